import * as fc from "fast-check";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import {
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "../testing/index.ts";
import { withTenant, type Tx } from "../transaction.ts";
import { branchPath } from "./branch-path.ts";
import { insertBranch, listBranches, setActiveBranch } from "./chat-branches.ts";
import { loadAssemblyInput } from "./generation-inputs.ts";
import { claimGeneration, endGeneration, NO_USAGE } from "./generation-lifecycle.ts";
import { deleteMessage } from "./message-changes.ts";
import { appendMessages, findLastMessages, findMessage, listMessages, type MessageRow } from "./messages.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let worker: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 2, applicationName: "branch-path-test" });
  [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
});

afterAll(async () => {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await test.drop();
});

/** A place in the model: ids of its variants, the chosen one last. Branches that share a past share its places. */
type Place = string[];

/** What a user believes a chat with branches to be: every branch a whole list of its own. */
interface Model {
  readonly branches: Place[][];
  /** What each branch shared when it forked. */
  readonly shared: (readonly Place[])[];
  active: number;
}

const activeBranch = (model: Model): Place[] => model.branches[model.active] ?? [];
const newModel = (chat: TestChat): Model => ({ branches: [[[chat.inputMessageId]]], shared: [[]], active: 0 });
const shown = (branch: readonly Place[]): string[] => branch.flatMap((place) => place.slice(-1));

function forkModel(model: Model, shared: readonly Place[], own: readonly Place[]): void {
  model.shared.push(shared);
  model.active = model.branches.push([...shared, ...own]) - 1;
}

/** Something stands behind the place, or more than one branch goes through it. */
function isFollowed(model: Model, place: Place): boolean {
  const through = model.branches.filter((branch) => branch.includes(place));
  return through.length > 1 || through.some((branch) => shown(branch.slice(branch.indexOf(place) + 1)).length > 0);
}

interface Step {
  readonly kind: "append" | "reply" | "regenerate" | "fork" | "activate" | "delete";
  /** Chooses a message or branch among those there are, from 0 to 1. */
  readonly at: number;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>("append", "append", "reply", "regenerate", "fork", "activate", "delete"),
    at: fc.oneof(fc.constant(0.999), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
  }),
  { minLength: 20, maxLength: 30, size: "max" },
);

const pick = <T>(among: readonly T[], at: number): T | undefined => among[Math.floor(among.length * at)];

async function take(step: Step, chat: TestChat, model: Model): Promise<void> {
  const branch = activeBranch(model);
  const places = branch.filter((place) => place.length > 0);
  const place = pick(places, step.at);
  switch (step.kind) {
    case "append":
      return void branch.push([await append(chat)]);
    case "activate":
      model.active = Math.floor(model.branches.length * step.at);
      return inChat(chat, (tx) => setActiveBranch(tx, chat.tenantId, chat.chatId, model.active));
    case "fork":
      if (!place) return;
      await fork(chat, place);
      return forkModel(model, branch.slice(0, branch.indexOf(place) + 1), []);
    case "reply": {
      const input = shown(branch).at(-1);
      if (input !== undefined)
        branch.push([await run(chat, { action: "reply", inputMessageId: input, branch: model.active })]);
      return;
    }
    case "regenerate":
      return place && regenerate(chat, model, place);
    case "delete":
      if (!place) return;
      await remove(chat, place.at(-1) ?? "");
      // What is chosen instead is the newest other one: the model keeps them in that order.
      place.pop();
  }
}

async function regenerate(chat: TestChat, model: Model, place: Place): Promise<void> {
  const branch = activeBranch(model);
  const before = branch.slice(0, branch.indexOf(place));
  const input = shown(before).at(-1);
  if (input === undefined) return;
  const followed = isFollowed(model, place);
  const reply = await run(chat, { action: "regenerate", inputMessageId: input, targetMessageId: place.at(-1) ?? null });
  if (followed) forkModel(model, before, [[reply]]);
  else place.push(reply);
}

const inChat = <T>(chat: TestChat, work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(api.db, chat.tenantId, work);

async function append(chat: TestChat): Promise<string> {
  const id = uuidv7();
  const plain = { name: null, toolCalls: [], toolCallId: null, pinned: false, hidden: false, meta: {} };
  const message = { ...plain, id, role: "user", content: id, variant: 0, alternatives: [], createdAt: null } as const;
  await inChat(chat, (tx) => appendMessages(tx, chat.tenantId, chat.chatId, [message]));
  return id;
}

async function stored(tx: Tx, chat: TestChat, id: string): Promise<MessageRow> {
  const message = await findMessage(tx, chat.tenantId, chat.chatId, id);
  if (!message) throw new Error(`${id} is not stored`);
  return message;
}

async function fork(chat: TestChat, place: Place): Promise<void> {
  await inChat(chat, async (tx) => {
    const { branch, seq } = await stored(tx, chat, place.at(-1) ?? "");
    const forked = await insertBranch(tx, chat.tenantId, chat.chatId, { parentBranch: branch, forkSeq: seq });
    await setActiveBranch(tx, chat.tenantId, chat.chatId, forked);
  });
}

async function remove(chat: TestChat, id: string): Promise<void> {
  await inChat(chat, async (tx) => deleteMessage(tx, chat.tenantId, await stored(tx, chat, id)));
}

/** A whole generation, as accepted, claimed and ended; returns the reply's id. */
async function run(chat: TestChat, part: NonNullable<Parameters<typeof insertTestGeneration>[3]>): Promise<string> {
  const generationId = await insertTestGeneration(api.db, chat, 60_000, part);
  const { tenantId, chatId } = chat;
  const ended = await withTenant(worker.db, tenantId, async (tx) => {
    const claim = await claimGeneration(tx, { tenantId, generationId, epoch: 0 }, uuidv7());
    return endGeneration(tx, {
      tenantId,
      generationId,
      chatId,
      expected: { status: "running", fence: claim?.fence ?? 0 },
      status: "completed",
      error: null,
      finishReason: "stop",
      usage: NO_USAGE,
      text: generationId,
      toolCalls: [],
      firstTokenAt: null,
      context: null,
      stages: null,
      anchorMessageId: null,
      auditPatch: {},
    });
  });
  return ended?.messageId ?? "";
}

const ids = (rows: readonly { readonly id: string | null }[]) => rows.map(({ id }) => id);

it("every branch is what it would be as a list of its own, after whatever forks, replies and deletions", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const chat = await insertTestChat(admin.db, api.db);
      const model = newModel(chat);
      for (const step of given) await take(step, chat, model);
      await inChat(chat, async (tx) => {
        const { tenantId, chatId } = chat;
        const rows = await listBranches(tx, tenantId, chatId, { limit: 100, after: null });
        expect(rows).toHaveLength(model.branches.length);
        for (const [branch, places] of model.branches.entries()) {
          const path = await branchPath(tx, tenantId, chatId, branch);
          const expected = shown(places);
          const listed = await listMessages(tx, path, { limit: 100, after: null, allVariants: false });
          expect(ids(listed)).toEqual(expected);
          expect(ids(await findLastMessages(tx, path, { count: 3 }))).toEqual(expected.slice(-3).toReversed());
          expect(rows[branch]).toMatchObject({
            branch,
            active: branch === model.active,
            messageCount: expected.length,
            forkMessageId: shown(model.shared[branch] ?? []).at(-1) ?? null,
            lastMessageId: expected.at(-1) ?? null,
          });
        }
        expect(await history(tx, chat, null)).toEqual(shown(activeBranch(model)));
        for (const end of shown(activeBranch(model))) {
          const upTo = shown(activeBranch(model));
          expect(await history(tx, chat, end)).toEqual(upTo.slice(0, upTo.indexOf(end) + 1));
        }
      });
    }),
    { numRuns: 12, seed: 42, endOnFailure: true },
  );
});

it("a chat whose active branch cannot be found is an error, never an empty chat", async () => {
  const chat = await insertTestChat(admin.db, api.db);
  await inChat(chat, (tx) => setActiveBranch(tx, chat.tenantId, chat.chatId, 9));
  await expect(inChat(chat, (tx) => history(tx, chat, null))).rejects.toThrow("the chat has no branch 9");
});

it("a list goes on where its page ended, across forks and variants", async () => {
  const chat = await insertTestChat(admin.db, api.db);
  const model = newModel(chat);
  const told = ["append", "reply", "append", "fork", "reply", "regenerate", "append", "regenerate"] as const;
  for (const kind of told) await take({ kind, at: 0.7 }, chat, model);
  await inChat(chat, async (tx) => {
    const path = await branchPath(tx, chat.tenantId, chat.chatId, model.active);
    const whole = await listMessages(tx, path, { limit: 100, after: null, allVariants: true });
    const paged: MessageRow[] = [];
    for (let after: MessageRow | null = null; ;) {
      const [next]: readonly MessageRow[] = await listMessages(tx, path, { limit: 1, after, allVariants: true });
      if (!next) break;
      paged.push(next);
      after = next;
    }
    expect(new Set(whole.map(({ branch }) => branch)).size).toBeGreaterThan(1);
    expect(ids(paged)).toEqual(ids(whole));
  });
});

async function history(tx: Tx, chat: TestChat, inputMessageId: string | null) {
  const query = { chatId: chat.chatId, inputMessageId, draft: null, personaId: null, lorebookIds: null };
  const windows = [null, { bytes: 40, isEnough: () => true }];
  const loaded = await Promise.all(
    windows.map(async (window) => {
      const input = await loadAssemblyInput(tx, chat.tenantId, { ...query, window });
      return { ids: ids(input?.conversation.messages ?? []), earlier: input?.conversation.earlier ?? [] };
    }),
  );
  const [whole, part] = loaded;
  const left = part?.earlier.reduce((sum, { count }) => sum + count, 0) ?? 0;
  expect(part?.ids).toEqual(whole?.ids.slice(left));
  return whole?.ids;
}
