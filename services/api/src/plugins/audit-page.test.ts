import { STRATEGIES, DIAGNOSTIC_CODES, EXCLUDED_REASONS, INCLUDED_REASONS, STAGES } from "@shiftwork/pipeline";
import { fastify, type FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addAuditPage } from "./audit-page.ts";

const script = readFileSync(new URL("../../audit-page/page.js", import.meta.url), "utf8");
let app: FastifyInstance;

beforeAll(() => {
  app = fastify();
  addAuditPage(app);
});
afterAll(() => app.close());

test.each([
  ["/audit", "text/html"],
  ["/audit/page.css", "text/css"],
  ["/audit/page.js", "text/javascript"],
])("%s is served without a key, under a policy that lets nothing inline run", async (url, type) => {
  const answer = await app.inject(url);
  expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
  const policy = String(answer.headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test("the page needs nothing its policy forbids: no inline script, style or handler, no other host", async () => {
  const page = (await app.inject("/audit")).body;
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc="\/audit\/)|https?:\/\//);
  expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?:\/\//);
});

test("the key is kept for the tab alone", () => {
  expect(script).not.toMatch(/localStorage\.setItem\(KEY|document\.cookie|indexedDB/);
  expect(script).toMatch(/sessionStorage\.setItem\(KEY/);
});

describe("every code has words of its own", () => {
  const wordsIn = (name: string) => script.slice(script.indexOf(`const ${name} = {`)).split("\n};")[0] ?? "";
  const codesOf = (name: string) => [...wordsIn(name).matchAll(/^ {2}"?([\w-]+)"?:/gm)].map(([, code]) => code);
  test.each<[string, readonly string[]]>([
    ["REASONS", [...INCLUDED_REASONS, ...EXCLUDED_REASONS]],
    ["LEFT_OUT", EXCLUDED_REASONS],
    ["DIAGNOSTICS", DIAGNOSTIC_CODES],
    ["STRATEGIES", Object.keys(STRATEGIES)],
    ["STAGES", STAGES.map(({ name }) => name)],
  ])("%s", (name, codes) => {
    expect(codesOf(name)).toEqual(expect.arrayContaining([...codes]));
  });
});
