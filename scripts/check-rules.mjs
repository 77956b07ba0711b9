// Proves that the linter's rules bite: plants one violation of each in a copy of the tree's outline, expects every one
// to be reported by its rule, and expects nothing in the files that keep the rules. Ends with 1 when that is not so.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { capture, ROOT, tool } from "./run-command.mjs";

/** [file, code, rule]: what has to be reported. */
const VIOLATIONS = [
  // Direction: pipeline ← formats ← contracts ← db ← platform ← providers ← services.
  ...[
    ["packages/pipeline/src", "@shiftwork/formats"],
    ["packages/pipeline/src", "@shiftwork/contracts"],
    ["packages/formats/src", "@shiftwork/contracts"],
    ["packages/contracts/src", "@shiftwork/db"],
    ["db/src", "@shiftwork/platform"],
    ["packages/platform/src", "@shiftwork/providers"],
    ["packages/providers/src", "@shiftwork/api"],
    ["services/api/src", "@shiftwork/worker"],
    ["services/worker/src", "@shiftwork/api"],
    ["packages/pipeline/src/testing", "@shiftwork/platform"],
    ["packages/formats/src/testing", "@shiftwork/db"],
    // Past the package's door.
    ["packages/pipeline/src", "../../../db/src/client.ts"],
    ["packages/providers/src", "../../contracts/src/ids.ts"],
    ["services/api/src/routes", "../../../worker/src/worker.ts"],
    ["services/worker/src", "@shiftwork/db/src/client.ts"],
    // Databases and queues have one home each.
    ["services/api/src", "kysely"],
    ["services/worker/src", "postgres"],
    ["packages/platform/src", "postgres"],
    ["services/worker/src", "bullmq"],
    ["services/api/src", "ioredis"],
    ["db/src", "pg"],
    ["packages/providers/src", "bullmq"],
    // The pure packages.
    ["packages/pipeline/src", "node:fs"],
    ["packages/pipeline/src", "node:fs/promises"],
    ["packages/pipeline/src", "fs"],
    ["packages/pipeline/src", "zod"],
    ["packages/pipeline/src", "node:zlib"],
    // Its vocabularies are data; its tokenizer is for tests.
    ["packages/pipeline/src", "@dqbd/tiktoken"],
    ["packages/formats/src", "node:fs/promises"],
    ["packages/formats/src", "node:crypto"],
    ["packages/contracts/src", "node:fs"],
    // Whatever nobody listed.
    ["packages/providers/src", "undici"],
    ["services/api/src", "express"],
  ].map(([folder, name]) => [`${folder}/planted.ts`, importing(name), "eslint(no-restricted-imports)"]),
  ...["packages/pipeline/src", "packages/formats/src"].flatMap((folder) => [
    [`${folder}/planted.ts`, "export const now = Date.now();", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const now = performance.now();", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const id = crypto.randomUUID();", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const all = globalThis;", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const id = process.pid;", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const later = setTimeout;", "eslint(no-restricted-globals)"],
    [`${folder}/planted.ts`, "export const dice = Math.random();", "eslint(no-restricted-properties)"],
  ]),
  ...["packages/pipeline/src", "packages/platform/src", "db/src", "services/api/src", "services/worker/src"].flatMap(
    (folder) => [
      [`${folder}/planted.ts`, 'export const home = process.env["HOME"];', "node(no-process-env)"],
      [`${folder}/planted.ts`, 'console.log("hello");', "eslint(no-console)"],
    ],
  ),
  ["services/api/src/planted.ts", "export const x: any = 1;", "typescript(no-explicit-any)"],
  ["services/api/src/planted.ts", "export const same = (a: number, b: number) => a == b;", "eslint(eqeqeq)"],
  ["services/api/src/planted.ts", "// @ts-ignore\nexport const x = 1;", "typescript(ban-ts-comment)"],
  [
    "services/api/src/planted.ts",
    `export function long() {\n${"  void 0;\n".repeat(81)}}`,
    "eslint(max-lines-per-function)",
  ],
  ["services/api/src/planted.ts", "const work = async () => 1;\nwork();", "typescript(no-floating-promises)"],
  ["services/api/src/planted.ts", "const work = async () => 1;\n[1].forEach(work);", "typescript(no-misused-promises)"],
  ["services/api/src/planted.ts", "export const wait = async () => { await 1; };", "typescript(await-thenable)"],
  [
    "services/api/src/planted.ts",
    'export function f(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      return;\n  }\n}',
    "typescript(switch-exhaustiveness-check)",
  ],
];

/** [file, code]: what has to pass. */
const ALLOWED = [
  [
    "packages/pipeline/src/kept.ts",
    importing("./block.ts") + importing("re2js", 1) + importing("@noble/hashes/sha2.js", 2),
  ],
  [
    "packages/formats/src/kept.ts",
    importing("../x/card.ts") + importing("node:zlib", 1) + importing("@shiftwork/pipeline", 2),
  ],
  ["packages/contracts/src/kept.ts", importing("zod") + importing("@shiftwork/pipeline", 1)],
  ["db/src/kept.ts", importing("kysely") + importing("postgres", 1) + importing("@shiftwork/contracts", 2)],
  [
    "packages/platform/src/kept.ts",
    importing("bullmq") + importing("node:fs/promises", 1) + importing("@shiftwork/db", 2),
  ],
  ["packages/providers/src/kept.ts", importing("node:https") + importing("@shiftwork/pipeline", 1)],
  ["services/api/src/kept.ts", importing("fastify") + importing("@fastify/helmet", 1) + importing("@shiftwork/db", 2)],
  ["services/worker/src/kept.ts", importing("@shiftwork/providers") + importing("node:os", 1)],
  ["services/api/src/config.ts", 'export const home = process.env["HOME"];'],
  ["packages/pipeline/src/kept.test.ts", `${importing("node:fs")}export const now = Date.now();`],
  ["scripts/kept.mjs", "console.log(process.env.HOME);"],
];

const folder = mkdtempSync(join(tmpdir(), "shiftwork-rules-"));
try {
  outline();
  const planted = VIOLATIONS.map(([file, code, rule], index) => ({ file: plant(file, code, index), rule }));
  const allowed = ALLOWED.map(([file, code]) => plant(file, code));
  const reported = await lint();
  const wrong = [
    ...planted
      .filter(({ file, rule }) => !reported.some((one) => one.file === file && one.rule === rule))
      .map(describeMissed),
    ...reported
      .filter(({ file }) => allowed.includes(file))
      .map(({ file, rule }) => `reported without reason: ${rule} in ${file}`),
  ];
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The linter's configuration and what the type-aware rules need. */
function outline() {
  for (const name of [".oxlintrc.json", "tsconfig.base.json"]) cpSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const settings = {
    extends: "./tsconfig.base.json",
    compilerOptions: { noEmit: true },
    include: ["packages", "services", "db"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
}

/** Writes one file; a number keeps plants in the same folder apart. Returns its path as the linter prints it. */
function plant(file, code, number) {
  const name = number === undefined ? file : file.replace("planted", `planted-${number}`);
  mkdirSync(join(folder, dirname(name)), { recursive: true });
  writeFileSync(join(folder, name), `${code}\n`);
  return name;
}

async function lint() {
  const { output } = await capture(tool("oxlint"), ["--type-aware", "--format=json"], { cwd: folder });
  return JSON.parse(output).diagnostics.map(({ filename, code }) => ({ file: filename, rule: code }));
}

function importing(name, number = 0) {
  return `import * as imported${number} from "${name}";\nexport const kept${number} = imported${number};\n`;
}

function describeMissed({ file, rule }) {
  const [, code] = VIOLATIONS[Number(/planted-(\d+)/.exec(file)[1])];
  return `not reported: ${rule} in ${file}: ${code.split("\n")[0]}`;
}
