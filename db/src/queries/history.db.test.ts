import { performance } from "node:perf_hooks";
import {
  buildPrompt,
  historyWindow,
  isChatRequest,
  type AssemblyReport,
  type AssemblySettings,
  type LoreEntry,
  type ToolCall,
} from "@shiftwork/pipeline";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import { insertTestChat, openTestDatabase, type TestChat, type TestDatabase } from "../testing/index.ts";
import { withTenant } from "../transaction.ts";
import { uuidv7 } from "uuidv7";
import { insertBranch, setActiveBranch } from "./chat-branches.ts";
import { loadAssemblyInput } from "./generation-inputs.ts";
import { insertLorebook, insertLoreEntries } from "./lorebooks.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  admin = openDatabase({ url: test.url, role: "shiftwork_admin", maxConnections: 1, applicationName: "test" });
  api = openDatabase({ url: test.url, role: "shiftwork_api", maxConnections: 2, applicationName: "test" });
});

afterAll(async () => {
  await admin.close();
  await api.close();
  await test.drop();
});

interface Row {
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  readonly pinned?: boolean;
  readonly hidden?: boolean;
  readonly meta?: object;
}

const SENTENCE = "The tide took three lamps before dawn, and Mira counted forty-two bells while nobody answered. ";
const say = (words: number): string => SENTENCE.repeat(Math.ceil(words / 15));

/** One turn of a chat, now and then with tools, a mark, a note of the system. Call ids come round again, as models' do. */
const turn: fc.Arbitrary<readonly Row[]> = fc
  .record({
    kind: fc.noBias(fc.integer({ min: 0, max: 59 })),
    words: fc.noBias(fc.integer({ min: 10, max: 150 })),
    id: fc.constantFrom("call_1", "call_2", "call_3"),
    marked: fc.noBias(fc.integer({ min: 0, max: 249 })),
  })
  .map(({ kind, words, id, marked }): readonly Row[] => {
    const calls = [{ id, name: "look", arguments: "{}" }];
    const mark = { pinned: marked === 0, hidden: marked === 1, meta: marked === 2 ? { manualExcluded: true } : {} };
    const user: Row = { role: "user", content: say(words), ...mark };
    const reply: Row = { role: "assistant", content: say(words * 2), pinned: marked === 3 };
    const result: Row = { role: "tool", content: say(words), toolCallId: id, pinned: marked === 4 };
    if (kind < 5)
      return [user, { role: "assistant", content: "", toolCalls: calls, pinned: marked === 5 }, result, reply];
    if (kind === 5) return [user, { role: "assistant", content: "", toolCalls: calls }, reply];
    if (kind === 6) return [result, user, reply];
    if (kind === 7) return [{ role: "system", content: say(10), meta: { optional: marked > 20 } }, user, reply];
    return [user, reply];
  });

const chats = (turns: number): readonly (readonly Row[])[] =>
  fc
    .sample(fc.array(turn, { minLength: turns, maxLength: turns, size: "max" }), { numRuns: 3, seed: 42 })
    .map((given) => [...given.flat(), { role: "user", content: "And the keeper?" }]);

/** `forkSeqs` = behind each of these positions the chat goes on in a branch of its own, and the branch before it otherwise. */
async function storeChat(rows: readonly Row[], forkSeqs: readonly number[] = []): Promise<TestChat> {
  const chat = await insertTestChat(admin.db, api.db);
  const branchAt = (seq: number): number => forkSeqs.filter((forkSeq) => forkSeq < seq).length;
  const place = (seq: number) => ({ tenant_id: chat.tenantId, id: uuidv7(), chat_id: chat.chatId, seq });
  const path = rows.map((row, index) => ({
    ...place(index + 2),
    branch: branchAt(index + 2),
    role: row.role,
    content: row.content,
    tool_calls: [...(row.toolCalls ?? [])],
    tool_call_id: row.toolCallId ?? null,
    pinned: row.pinned ?? false,
    hidden: row.hidden ?? false,
    meta: row.meta ?? {},
  }));
  const elsewhere = forkSeqs.flatMap((forkSeq, branch) =>
    Array.from({ length: 50 }, (_, index) => ({
      ...place(forkSeq + 1 + index),
      branch,
      role: "user" as const,
      content: "Said on another branch.",
      tool_calls: [],
      pinned: true,
      meta: {},
    })),
  );
  const values = [...path, ...elsewhere];
  await withTenant(api.db, chat.tenantId, async (tx) => {
    for (const [index, forkSeq] of forkSeqs.entries()) {
      await insertBranch(tx, chat.tenantId, chat.chatId, { parentBranch: index, forkSeq });
    }
    await setActiveBranch(tx, chat.tenantId, chat.chatId, forkSeqs.length);
    for (let at = 0; at < values.length; at += 1_000) {
      await tx
        .insertInto("messages")
        .values(values.slice(at, at + 1_000))
        .execute();
    }
  });
  return chat;
}

function settingsFor(contextStrategy: string, strategyOptions: object = {}): AssemblySettings {
  return {
    action: "reply",
    model: "gpt-4o",
    modelFacts: { contextLimit: 128_000, maxOutputTokens: null },
    budget: { contextLimit: 12_000, reservedForReply: 500 },
    parameters: {},
    tools: [],
    contextStrategy,
    strategyOptions: { ...strategyOptions },
    mainPrompt: null,
    postHistoryInstructions: null,
    lorebook: {
      scanDepth: 2,
      includeNames: true,
      budgetPercent: 25,
      budgetCapTokens: 0,
      caseSensitive: false,
      matchWholeWords: true,
    },
    memory: { budgetPercent: 15, topK: 8, minimumScore: 0.2 },
    seed: "seed",
    now: "2026-01-01T00:00:00.000Z",
  };
}

/** A book of the chat with an entry for each key. */
async function storeLore({ tenantId, chatId }: TestChat, keys: readonly string[]): Promise<void> {
  const id = uuidv7();
  const entries = keys.map((key, uid) => ({
    id: uuidv7(),
    uid,
    data: { ...LORE, title: key, keys: [key] },
    source: null,
  }));
  await withTenant(api.db, tenantId, async (tx) => {
    const book = {
      id,
      name: "Book",
      scanDepth: null,
      budgetTokens: null,
      wordBoundaries: "unicode",
      source: null,
    } as const;
    await insertLorebook(tx, tenantId, book);
    await insertLoreEntries(tx, tenantId, id, entries);
    await tx
      .insertInto("lorebook_bindings")
      .values({ tenant_id: tenantId, lorebook_id: id, chat_id: chatId })
      .execute();
  });
}

const LORE: Omit<LoreEntry, "id" | "uid"> = {
  title: "",
  keys: [],
  secondaryKeys: [],
  selective: false,
  selectiveLogic: "and_any",
  content: "Lore.",
  constant: false,
  enabled: true,
  required: null,
  order: 100,
  position: "before_character",
  depth: 4,
  role: "system",
  outletName: "",
  probability: 100,
  useProbability: false,
  scanDepth: null,
  caseSensitive: null,
  matchWholeWords: null,
  ignoreBudget: false,
  triggers: [],
  characterFilter: { exclude: false, names: [], tags: [] },
};

/** The prompt of the chat's next turn, and how many messages it was made of. */
async function assemble(chat: TestChat, settings: AssemblySettings, windowed: boolean) {
  const stored = await withTenant(api.db, chat.tenantId, (tx) =>
    loadAssemblyInput(tx, chat.tenantId, {
      chatId: chat.chatId,
      inputMessageId: null,
      draft: null,
      personaId: null,
      lorebookIds: null,
      window: windowed ? historyWindow([settings]) : null,
    }),
  );
  if (stored === null) throw new Error("no such chat");
  const { signal } = new AbortController();
  const report = await buildPrompt({ ...stored, settings, interceptors: [], clock: performance }, signal);
  return { report, loaded: stored.conversation.messages.length };
}

/** Positions of the branch that the audit speaks of, each as often as it does. */
function seqsOf({ blocks, ranges }: AssemblyReport): readonly number[] {
  const listed = blocks.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  const ranged = ranges.flatMap(({ fromSeq, count }) => Array.from({ length: count }, (_, at) => fromSeq + at));
  return [...listed, ...ranged].toSorted((a, b) => a - b);
}

describe("a long chat loaded by its window", () => {
  const stored: { readonly rows: readonly Row[]; readonly chat: TestChat }[] = [];
  beforeAll(async () => {
    for (const rows of chats(900)) stored.push({ rows, chat: await storeChat(rows) });
  });

  it.each([
    ["truncate", {}],
    ["truncate", { lowWater: 0.7 }],
    ["vector-recall", {}],
    ["manual", {}],
  ])(
    "gives %s %o the prompt and the counts of the whole chat, and accounts for every message once",
    async (id, options) => {
      for (const { rows, chat } of stored) {
        const settings = settingsFor(id, options);
        const whole = await assemble(chat, settings, false);
        const part = await assemble(chat, settings, true);
        expect(whole.loaded).toBe(rows.length + 1);
        expect(part.loaded).toBeLessThan(rows.length * 0.8);
        expect(part.report.request).toEqual(whole.report.request);
        expect(whole.report.error).toBeNull();
        expect(part.report.assemblyHash).toBe(whole.report.assemblyHash);
        expect(part.report.anchorId).toBe(whole.report.anchorId);
        expect(part.report.counts).toEqual(whole.report.counts);
        expect(seqsOf(part.report)).toEqual(Array.from({ length: rows.length + 1 }, (_, index) => index + 1));
      }
    },
  );

  it("is told along its branch: the prompt is that of a chat that never forked", async () => {
    for (const { rows, chat } of stored) {
      const settings = settingsFor("truncate");
      const straight = await assemble(chat, settings, true);
      const end = rows.length + 1;
      const forked = await storeChat(rows, [200, end - 300, end - 3]);
      for (const windowed of [true, false]) {
        const { report, loaded } = await assemble(forked, settings, windowed);
        expect(report.request).toEqual(straight.report.request);
        expect(report.counts).toEqual(straight.report.counts);
        expect(seqsOf(report)).toEqual(seqsOf(straight.report));
        if (windowed) expect(loaded).toBe(straight.loaded);
      }
    }
  });

  it("judges lore as by the whole chat, however far back a key stands", async () => {
    const rows = [...(chats(900)[1] ?? [])];
    const place = (back: number, content: string): void => void (rows[rows.length - back] = { role: "user", content });
    place(2, "The gull cries.");
    place(300, "The kraken sleeps.");
    place(rows.length - 5, "The siren sings.");
    const chat = await storeChat(rows);
    await storeLore(chat, ["gull", "kraken", "siren"]);
    const lore = async (windowed: boolean) => {
      const { report } = await assemble(chat, settingsFor("truncate"), windowed);
      const found = report.blocks.filter(({ source }) => source === "lorebook");
      return found.map(({ label, reason, reasonDetail }) => ({ label, reason, reasonDetail }));
    };
    const whole = await lore(false);
    expect(Object.fromEntries(whole.map(({ label, reason }) => [label, reason]))).toEqual({
      gull: "lore_key_match",
      kraken: "lore_outside_scan_depth",
      siren: "lore_no_key_match",
    });
    expect(await lore(true)).toEqual(whole);
  });

  it("reaches further back where replies hold reasoning, which takes no room in a prompt", async () => {
    const reasoning = `<think>${say(3_200)}</think>`;
    const rows = (chats(500)[0] ?? []).map((row) =>
      row.role === "assistant" && row.content !== "" ? { ...row, content: `${reasoning}Aye, ${row.content}` } : row,
    );
    const chat = await storeChat(rows);
    const whole = await assemble(chat, settingsFor("truncate"), false);
    const part = await assemble(chat, settingsFor("truncate"), true);
    expect(part.loaded).toBeLessThan(whole.loaded);
    expect(part.report.request).toEqual(whole.report.request);
    expect(part.report.counts).toEqual(whole.report.counts);
    expect(JSON.stringify(part.report.request)).not.toContain("<think>");
  });

  it.each(["summarize", "compress"])("is loaded whole for %s, which speaks of all of it", async (id) => {
    const { rows, chat } = stored[0]!;
    expect((await assemble(chat, settingsFor(id), true)).loaded).toBe(rows.length + 1);
  });

  it("keeps a pinned result with its call, however old", async () => {
    const old: readonly Row[] = [
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "look", arguments: "{}" }] },
      { role: "tool", content: "The lamp is lit.", toolCallId: "a", pinned: true },
    ];
    const chat = await storeChat([...old, ...(chats(700)[0] ?? [])]);
    const { report } = await assemble(chat, settingsFor("truncate"), true);
    expect(report.error).toBeNull();
    const { request } = report;
    const messages = request !== null && isChatRequest(request) ? request.messages : [];
    const roles = messages.slice(0, 4).map(({ role, content }) => [role, content]);
    expect(roles).toEqual(expect.arrayContaining([["tool", "The lamp is lit."]]));
    expect(messages.filter(({ tool_calls: calls }) => calls?.[0]?.id === "a")).toHaveLength(1);
  });

  it("is refused, not taken for an empty chat, when the message to answer is not in it", async () => {
    const { chat } = stored[0]!;
    const query = { chatId: chat.chatId, draft: null, personaId: null, lorebookIds: null };
    const load = (window: ReturnType<typeof historyWindow>) =>
      withTenant(api.db, chat.tenantId, (tx) =>
        loadAssemblyInput(tx, chat.tenantId, { ...query, inputMessageId: chat.chatId, window }),
      );
    await expect(load(null)).rejects.toThrow("not in the chat, or not the chosen variant");
    await expect(load(historyWindow([settingsFor("truncate")]))).rejects.toThrow(
      "not in the chat, or not the chosen variant",
    );
  });

  it("costs what it can hold: seven times the chat loads no more", async () => {
    const rows = chats(700)[0] ?? [];
    const settings = settingsFor("truncate");
    const once = await assemble(await storeChat(rows), settings, true);
    const plain = rows.map(({ role, content }): Row => ({ role: role === "user" ? "user" : "assistant", content }));
    const long = await assemble(
      await storeChat([...Array.from({ length: 6 }, () => plain).flat(), ...rows]),
      settings,
      true,
    );
    expect(long.loaded).toBeLessThan(once.loaded * 1.1);
    expect(long.report.request).toEqual(once.report.request);
  });
});
