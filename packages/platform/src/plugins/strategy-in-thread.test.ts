import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shiftContext } from "@shiftwork/pipeline";
import { afterAll, describe, expect, it } from "vitest";
import { hostClock } from "./host-clock.ts";
import { loadPlugins } from "./load-plugins.ts";

const folder = mkdtempSync(join(tmpdir(), "plugins-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Shifts four messages of ten tokens each to 30 with a strategy whose `shift` has this body. */
async function shiftWith(body: string, options: { readonly signal?: AbortSignal } = {}) {
  return (await strategyWith(body))(options);
}

/** The same, for more than one shift by the same threads. */
async function strategyWith(body: string) {
  const file = join(folder, `plugin-${body.length}.mjs`);
  const params = '{ type: "object", properties: {} }';
  writeFileSync(
    file,
    `export default { strategies: [{ id: "s", params: ${params}, shift(input, context) { ${body} } }] };`,
  );
  const { strategies } = await loadPlugins([file]);
  const messages = ["a", "b", "c", "d"].map((id) => ({ id, role: id === "d" ? "user" : "assistant", content: id }));
  return async (options: { readonly signal?: AbortSignal } = {}) => {
    const outcome = await shiftContext(messages, () => 10, 30, {
      strategy: "s",
      registry: strategies,
      after: hostClock.after,
      ...options,
    });
    return outcome.kept.map(({ content }) => content);
  };
}

const KEEP = (ids: string): string => `{ kept: input.blocks.filter((block) => ${ids}.includes(block.id)) }`;

describe("a strategy in a thread", () => {
  it("decides what stays", async () => {
    expect(await shiftWith(`return ${KEEP('["a", "d"]')};`)).toEqual(["a", "d"]);
  });

  it("may be asynchronous", async () => {
    expect(await shiftWith(`return Promise.resolve(${KEEP('["b", "d"]')});`)).toEqual(["b", "d"]);
  });

  it("gets counts from the host without waiting for a promise", async () => {
    const body = `const sum = input.blocks.reduce((sum, block) => sum + context.count(block), 0);
      return sum === 40 ? ${KEEP('["c", "d"]')} : null;`;
    expect(await shiftWith(body)).toEqual(["c", "d"]);
  });

  it("cannot change what the host holds", async () => {
    expect(await shiftWith(`input.blocks[0].content = "changed"; return ${KEEP('["a", "d"]')};`)).toEqual(["a", "d"]);
  });

  it.each(["throw new Error();", "process.exit(3);", "return { kept: [() => 1] };"])(
    "that says %s is replaced by the host's own",
    async (body) => {
      expect(await shiftWith(body)).toEqual(["b", "c", "d"]);
    },
  );

  it("that never comes back holds up nobody else and is replaced after two seconds", async () => {
    let turns = 0;
    const others = setInterval(() => (turns += 1), 20);
    expect(await shiftWith("for (;;);")).toEqual(["b", "c", "d"]);
    clearInterval(others);
    expect(turns).toBeGreaterThan(50);
  });

  it("that goes on counting after its answer does not hold up the next shift", async () => {
    const shift = await strategyWith(
      `setImmediate(() => { try { context.count(input.blocks[0]); } catch {} }); return ${KEEP('["a", "d"]')};`,
    );
    expect(await shift()).toEqual(["a", "d"]);
    expect(await shift()).toEqual(["a", "d"]);
  });

  it("whose thread ends after its answer gets another one for the next shift", async () => {
    const ended = join(folder, "ended");
    const shift = await strategyWith(
      `const { writeFileSync } = process.getBuiltinModule("node:fs");
      process.once("exit", () => writeFileSync(${JSON.stringify(ended)}, ""));
      setImmediate(() => process.exit(3));
      return ${KEEP('["a", "d"]')};`,
    );
    expect(await shift()).toEqual(["a", "d"]);
    await expect.poll(() => existsSync(ended)).toBe(true);
    // By the time another thread has started and answered, the end of this one is known here.
    await shiftWith(`return ${KEEP('["c", "d"]')};`);
    expect(await shift()).toEqual(["a", "d"]);
  });

  it("ends with the signal", async () => {
    const controller = new AbortController();
    const shifting = shiftWith("for (;;) ;", { signal: controller.signal });
    controller.abort(new Error("cancelled"));
    await expect(shifting).rejects.toThrow("cancelled");
  });
});
