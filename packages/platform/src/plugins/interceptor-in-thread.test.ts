import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildPrompt,
  DEFAULT_LOREBOOK_SETTINGS,
  DEFAULT_MEMORY_SETTINGS,
  providerMessages,
  type AssemblySettings,
  type Conversation,
} from "@shiftwork/pipeline";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { hostClock } from "./host-clock.ts";
import { loadPlugins, type LoadedPlugins } from "./load-plugins.ts";

/** For what a thread of its own has to start or do; the machine may be busy. */
const PATIENCE = { timeout: 10_000 };

const folder = mkdtempSync(join(tmpdir(), "plugins-"));
const opened: LoadedPlugins[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((plugins) => plugins.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

let modules = 0;

/** A plugin whose interceptor has this body. */
async function pluginOf(body: string): Promise<LoadedPlugins> {
  modules += 1;
  const file = join(folder, `interceptor-${modules}.mjs`);
  writeFileSync(
    file,
    `import { threadId } from "node:worker_threads";
    import { writeFileSync } from "node:fs";
    const heard = (blocks, text) => blocks.some(({ content }) => content === text);
    const say = (blocks, text) => blocks.map((block) => ({ ...block, content: text }));
    export default { interceptors: [{ id: "i", priority: 0, intercept(blocks, signal) { ${body} } }] };`,
  );
  const plugins = await loadPlugins([file]);
  opened.push(plugins);
  await plugins.warmUp();
  return plugins;
}

const SETTINGS: AssemblySettings = {
  action: "reply",
  model: "gpt-4o",
  modelFacts: { contextLimit: 8_000, maxOutputTokens: null },
  budget: {},
  parameters: {},
  tools: [],
  contextStrategy: "truncate",
  strategyOptions: {},
  mainPrompt: null,
  postHistoryInstructions: null,
  lorebook: DEFAULT_LOREBOOK_SETTINGS,
  memory: DEFAULT_MEMORY_SETTINGS,
  seed: "seed",
  now: "2026-01-02T03:04:05Z",
};

function chatOf(texts: readonly string[]): Conversation {
  const facts = { name: null, toolCalls: [], toolCallId: null, pinned: false, hidden: false };
  const messages = texts.map((content, index) => ({
    ...facts,
    id: `m${index + 1}`,
    seq: index + 1,
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content,
    optional: false,
    failedPartial: false,
  }));
  return { chatId: "chat_1", character: null, persona: null, lorebooks: [], memories: [], messages };
}

/** What is sent of the history (all but the input), and what the audit says. */
async function promptWith(
  plugins: LoadedPlugins,
  { history = "Hello.", signal = new AbortController().signal }: { history?: string; signal?: AbortSignal } = {},
) {
  const input = {
    conversation: chatOf([history, "Well.", "Go on."]),
    settings: SETTINGS,
    interceptors: plugins.interceptors,
    clock: hostClock,
  };
  const report = await buildPrompt(input, signal);
  const messages = report.request === null ? [] : providerMessages(report.request);
  const contents = messages.map((message) => ("content" in message ? message.content : null));
  return { sent: contents.slice(-3), codes: report.diagnostics.map(({ code }) => code) };
}

const UNTOUCHED = ["Hello.", "Well.", "Go on."];

describe("an interceptor in a thread", () => {
  it("edits what is not protected, and nothing else", async () => {
    const plugins = await pluginOf('return say(blocks, "edited");');
    expect(await promptWith(plugins)).toEqual({
      sent: ["edited", "edited", "Go on."],
      codes: ["plugin_edited", "host_restored"],
    });
  });

  it("may be asynchronous, and has a signal that has not ended", async () => {
    const body = "return Promise.resolve(say(blocks, `${signal instanceof AbortSignal} ${signal.aborted}`));";
    expect((await promptWith(await pluginOf(body))).sent).toEqual(["true false", "true false", "Go on."]);
  });

  it("changes nothing by writing to what it was given", async () => {
    const plugins = await pluginOf(
      'const answer = structuredClone(blocks); for (const block of blocks) block.content = "gone"; return answer;',
    );
    expect(await promptWith(plugins)).toEqual({ sent: UNTOUCHED, codes: [] });
  });

  it.each([
    "throw new Error();",
    "return Promise.reject(new Error());",
    "process.exit(3);",
    "Promise.reject(new Error()); return new Promise(() => {});",
    "return [() => 1];",
    "return 7;",
  ])("that says %s is done without, and runs again for the next prompt", async (body) => {
    const plugins = await pluginOf(`if (!heard(blocks, "Again.")) { ${body} } return say(blocks, "edited");`);
    expect(await promptWith(plugins)).toEqual({ sent: UNTOUCHED, codes: ["plugin_failed"] });
    expect((await promptWith(plugins, { history: "Again." })).sent).toEqual(["edited", "edited", "Go on."]);
  });

  it("that never comes back is done without, and holds up no prompt beside it, nor this thread", async () => {
    const plugins = await pluginOf('while (heard(blocks, "Hang.")); return say(blocks, "edited");');
    let turns = 0;
    const others = setInterval(() => (turns += 1), 20);
    const ended: string[] = [];
    const [hung] = await Promise.all(
      ["Hang.", "Hello.", "Hello."].map(async (history) => {
        const prompt = await promptWith(plugins, { history });
        ended.push(history);
        return prompt;
      }),
    );
    clearInterval(others);
    expect(hung).toEqual({ sent: ["Hang.", "Well.", "Go on."], codes: ["plugin_timeout"] });
    expect(ended).toEqual(["Hello.", "Hello.", "Hang."]);
    expect(turns).toBeGreaterThan(50);
  });

  it("uses its thread again, also after it threw", async () => {
    const plugins = await pluginOf(
      'if (heard(blocks, "Throw.")) throw new Error(); return say(blocks, `thread ${threadId}`);',
    );
    const first = await promptWith(plugins);
    expect(first.sent[0]).toMatch(/^thread [1-9]/);
    await promptWith(plugins, { history: "Throw." });
    expect(await promptWith(plugins)).toEqual(first);
  });

  it("ends with the signal, which it can heed before its thread ends", async () => {
    const [begun, heeded] = [join(folder, "begun"), join(folder, "heeded")];
    const plugins = await pluginOf(
      `writeFileSync(${JSON.stringify(begun)}, "");
      return new Promise(() => signal.addEventListener("abort", () => writeFileSync(${JSON.stringify(heeded)}, "")));`,
    );
    const controller = new AbortController();
    const running = promptWith(plugins, { signal: controller.signal });
    await expect.poll(() => existsSync(begun), PATIENCE).toBe(true);
    controller.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
    await expect.poll(() => existsSync(heeded), PATIENCE).toBe(true);
  });

  it("is ended when the plugins are closed, and done without from then on", async () => {
    const begun = join(folder, "closing");
    const plugins = await pluginOf(`writeFileSync(${JSON.stringify(begun)}, ""); for (;;);`);
    const running = promptWith(plugins);
    await expect.poll(() => existsSync(begun), PATIENCE).toBe(true);
    await plugins.close();
    expect(await running).toEqual({ sent: UNTOUCHED, codes: ["plugin_failed"] });
    expect((await promptWith(plugins)).codes).toEqual(["plugin_failed"]);
  });
});
