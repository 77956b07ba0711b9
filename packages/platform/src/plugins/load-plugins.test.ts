import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadPlugins, PluginError } from "./load-plugins.ts";

const folder = mkdtempSync(join(tmpdir(), "plugins-"));
afterAll(() => rmSync(folder, { recursive: true }));

let modules = 0;
function moduleOf(code: string): string {
  modules += 1;
  const file = join(folder, `plugin-${modules}.mjs`);
  writeFileSync(file, code);
  return file;
}

const PARAMS = 'params: { type: "object", properties: {} }';

describe("loadPlugins", () => {
  it("registers what each module brings, and lists it", async () => {
    const strategy = moduleOf(
      `export default { strategies: [{ id: "mine", ${PARAMS}, shift: () => ({ kept: [] }) }] };`,
    );
    const interceptor = moduleOf(`export default { interceptors: [{ id: "i", priority: 3, intercept: (b) => b }] };`);
    const loaded = await loadPlugins([strategy, interceptor]);
    expect(loaded.list).toEqual([
      { specifier: strategy, strategies: ["mine"], interceptors: [] },
      { specifier: interceptor, strategies: [], interceptors: ["i"] },
    ]);
    expect(loaded.strategies.ids()).toEqual([...(await loadPlugins([])).strategies.ids(), "mine"]);
    expect(loaded.interceptors.map(({ id, priority }) => ({ id, priority }))).toEqual([{ id: "i", priority: 3 }]);
  });

  it("finds a path from the working directory", async () => {
    const { list } = await loadPlugins(["./examples/plugins/hide-addresses.mjs"]);
    expect(list[0]?.interceptors).toEqual(["hide-addresses"]);
  });

  it.each([
    ["export const a = 1;", "has no object as its default export"],
    ["export default { hooks: [] };", 'exports "hooks"'],
    ["export default { strategies: {} };", "strategies that are no list"],
    [`export default { strategies: [{ ${PARAMS}, shift() {} }] };`, "number 1 has no id"],
    [`export default { strategies: [{ id: "s", ${PARAMS} }] };`, '("s") has no function shift'],
    ['export default { strategies: [{ id: "s", shift() {} }] };', '("s") has no params'],
    [
      `export default { strategies: [{ id: "s", ${PARAMS}, shift() {}, priority: "1" }] };`,
      "priority that is no number",
    ],
    ['export default { interceptors: [{ id: "i", intercept() {} }] };', '("i") has no number as its priority'],
    ['export default { interceptors: [{ id: "i", priority: 1 }] };', '("i") has no function intercept'],
    ["export default {", "cannot be imported"],
    ['throw new Error("no licence");', "no licence"],
  ])("refuses a module that says %s", async (code, problem) => {
    const file = moduleOf(code);
    const loading = loadPlugins([file]);
    await expect(loading).rejects.toThrow(PluginError);
    await expect(loading).rejects.toThrow(`"${file}"`);
    await expect(loading).rejects.toThrow(problem);
  });

  it("refuses, when its threads start, a module that cannot run in one", async () => {
    const file = moduleOf(
      `import { workerData } from "node:worker_threads";
      if (workerData?.url === import.meta.url) throw new Error("not in here");
      export default {};`,
    );
    const plugins = await loadPlugins([file]);
    await expect(plugins.warmUp()).rejects.toThrow(PluginError);
    await expect(plugins.warmUp()).rejects.toThrow(`"${file}" cannot run in a thread: not in here`);
  });

  it("refuses a module that is not there, and a second interceptor of one id", async () => {
    await expect(loadPlugins(["./nowhere.mjs"])).rejects.toThrow('"./nowhere.mjs" cannot be imported');
    const code = 'export default { interceptors: [{ id: "i", priority: 1, intercept: (b) => b }] };';
    await expect(loadPlugins([moduleOf(code), moduleOf(code)])).rejects.toThrow('a second interceptor "i"');
  });
});
