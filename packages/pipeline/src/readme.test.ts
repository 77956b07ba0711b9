import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as pipeline from "./index.ts";

type Run = (console: { log(line: unknown): void }, library: object) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Run;

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/^## (.+?)\n\n```js\n(.*?)^```/gms)].map(([, title = "", code = ""]) => ({
  title,
  code,
}));

/** The example's lines, its import taken from the source of this package. */
function runnable(code: string): Run {
  const body = code.replaceAll(/^import (\{.*?\}) from "@shiftwork\/pipeline";$/gm, "const $1 = library;");
  return new AsyncFunction("console", "library", body);
}

describe("the README's examples", () => {
  it("are four", () => expect(examples).toHaveLength(4));

  it.each(examples)("$title: prints what it says", async ({ code }) => {
    const printed: string[] = [];
    await runnable(code)({ log: (line) => printed.push(String(line)) }, pipeline);
    expect(printed).toEqual([...code.matchAll(/\/\/ → (.*)$/gm)].map(([, line]) => line));
  });
});
