import { newId } from "@shiftwork/db";
import { decodeId, encodeId } from "@shiftwork/contracts";
import { expect, test } from "vitest";
import { CHECKS } from "./checks.ts";
import { collectEvidence } from "./evidence.ts";
import { follow, type Followed } from "./followed.ts";
import type { GenerationFacts, MessageFacts, Rows, Transition } from "./load-rows.ts";
import type { SeenEvent } from "./read-events.ts";

const turn = (changes: Partial<Followed> = {}): Followed => ({
  ...follow({ id: encodeId("generation", newId()), tenant: 0, scenario: "words", shortDeadline: false, message: "Hi" }),
  ends: ["completed"],
  events: STREAM,
  ...changes,
});

const STREAM: readonly SeenEvent[] = [
  { seq: 1, type: "generation.queued", data: {} },
  { seq: 2, type: "generation.started", data: {} },
  { seq: 3, type: "message.delta", data: { delta: "Hel", index: 0 } },
  { seq: 4, type: "message.delta", data: { delta: "lo", index: 3 } },
  { seq: 5, type: "generation.completed", data: { status: "completed" } },
];

interface Planted {
  readonly turn?: Partial<Followed>;
  readonly row?: Partial<GenerationFacts>;
  readonly messages?: (reply: MessageFacts) => readonly MessageFacts[];
  readonly steps?: readonly (readonly [from: string | null, to: string, cancelRequested: boolean])[];
  readonly rows?: (rows: Rows) => Partial<Rows>;
  readonly deaths?: readonly string[];
}

/** A turn that went well, with what a test changes about it; the names of the checks that object. */
function objections(planted: Planted): readonly string[] {
  const followed = turn(planted.turn);
  const id = decodeId("generation", followed.id) ?? "";
  const messageId = newId();
  const row: GenerationFacts = { ...ROW, id, outputMessageId: messageId, ...planted.row };
  const steps = planted.steps ?? [
    [null, "queued", false],
    ["queued", "running", false],
    ["running", "completed", false],
  ];
  const transitions = steps.map(([from, to, cancelRequested]): Transition => ({
    generationId: id,
    from,
    to,
    cancelRequested,
  }));
  const reply: MessageFacts = { ...REPLY, id: messageId, generationId: id };
  const input: MessageFacts = { ...REPLY, id: newId(), seq: 1, role: "user", content: "Hi", generationId: null };
  const rows: Rows = {
    generations: [row],
    transitions,
    messages: [input, ...(planted.messages?.(reply) ?? [reply])],
    attempts: [{ generationId: id, outcome: "completed", errorCode: null, open: false }],
    terminalEvents: [{ generationId: id, status: row.status }],
    preparedAudits: [],
    messagesKeptForRetry: [],
  };
  const run = { injected: [], workers: 3, slots: 8, deaths: planted.deaths ?? [] };
  const evidence = collectEvidence({ followed: [followed], surprises: [] }, { ...rows, ...planted.rows?.(rows) }, run);
  return Object.entries(CHECKS).flatMap(([name, check]) => (check(evidence).violations.length > 0 ? [name] : []));
}

const ROW = {
  tenantId: "t",
  chatId: "c",
  status: "completed",
  errorCode: null,
  attempts: 1,
  maxAttempts: 3,
  cancelRequested: false,
  retryOf: null,
  waitMs: 5,
  cancelMs: null,
  lateMs: -60_000,
};
const REPLY = {
  chatId: "c",
  branch: 0,
  seq: 2,
  variant: 0,
  active: true,
  role: "assistant",
  content: "Hello",
  partial: false,
};
const withoutEvent = (seq: number) => STREAM.filter((event) => event.seq !== seq);

test("nothing is said against a turn that went well", () => {
  expect(objections({})).toEqual([]);
});

test("nothing is said against a message that waits for its turn's retry", () => {
  const kept = objections({
    rows: ({ messages }) => ({ messages: messages.slice(1), messagesKeptForRetry: ["Hi"] }),
  });
  expect(kept).toEqual([]);
});

test.each<[string, Planted, string]>([
  ["a 202 without a row", { rows: () => ({ generations: [] }) }, "every 202 has a row"],
  ["an end 11 s late", { row: { lateMs: 11_000 } }, "G1 ends by its deadline + 10 s"],
  ["one that never ends", { row: { status: "running", lateMs: null } }, "G1 ends by its deadline + 10 s"],
  [
    "a second end",
    {
      steps: [
        ["running", "completed", false],
        ["completed", "failed", false],
      ],
    },
    "G2 one terminal transition",
  ],
  ["no terminal event", { rows: () => ({ terminalEvents: [] }) }, "G2 one terminal event, the row's"],
  ["another end than a client saw", { turn: { ends: ["failed"] } }, "G2 clients saw one end, the row's"],
  ["a cancel that was accepted in vain", { turn: { cancel: "accepted" } }, "G3 accepted cancel never completes"],
  ["a completed row with a cancel in it", { row: { cancelRequested: true } }, "G3 cancelled in the row, or not at all"],
  [
    "a cancel that was refused and done",
    { turn: { cancel: "refused" }, row: { status: "cancelled" } },
    "G3 refused cancel changes nothing",
  ],
  ["a fourth attempt", { row: { attempts: 4 } }, "G4 attempts are bounded"],
  [
    "a start after a cancel",
    {
      steps: [
        ["queued", "running", true],
        ["running", "completed", true],
      ],
    },
    "G4 no attempt starts after a cancel",
  ],
  [
    "an attempt without an end",
    { rows: () => ({ attempts: [{ generationId: "g", outcome: null, errorCode: null, open: true }] }) },
    "G4 no attempt is left open",
  ],
  ["a second reply", { messages: (reply) => [reply, { ...reply, seq: 3 }] }, "G5 one reply, as streamed"],
  ["a completed turn without a reply", { messages: () => [] }, "G5 one reply, as streamed"],
  [
    "another text than was streamed",
    { messages: (reply) => [{ ...reply, content: "Hell" }] },
    "G5 one reply, as streamed",
  ],
  ["a hole in a stream", { turn: { events: withoutEvent(4) } }, "G8 streams are ordered and whole"],
  [
    "an event told twice",
    { turn: { events: [...STREAM.slice(0, 3), ...STREAM.slice(2)] } },
    "G8 streams are ordered and whole",
  ],
  [
    "a gap although nothing was lost",
    { turn: { events: [{ seq: 1, type: "stream.gap", data: { from: 1, to: 1 } }, ...withoutEvent(1)] } },
    "G8 streams are ordered and whole",
  ],
  [
    "a second reading that differs",
    {
      turn: {
        reread: {
          after: 2,
          events: [{ seq: 3, type: "message.delta", data: { delta: "Hey", index: 0 } }, ...STREAM.slice(3)],
        },
      },
    },
    "G8 a second reading equals the first",
  ],
  ["a failure nobody caused", { row: { status: "failed", errorCode: "INTERNAL" } }, "failures are explained"],
  [
    "a lost worker after one attempt",
    { row: { status: "failed", errorCode: "WORKER_LOST" } },
    "failures are explained",
  ],
  [
    "an ordinary turn at its deadline",
    { row: { status: "failed", errorCode: "DEADLINE_EXCEEDED" } },
    "failures are explained",
  ],
  [
    "an attempt lost where no worker was touched",
    {
      rows: ({ attempts }) => ({
        attempts: attempts.map((each) => ({ ...each, outcome: "lost", errorCode: "WORKER_LOST" })),
      }),
    },
    "G4 no attempt is lost without a fault",
  ],
  ["a repeat that found another one", { turn: { repeats: ["gen_other"] } }, "repeated keys find the same generation"],
  [
    "a message that is not stored",
    { rows: ({ messages }) => ({ messages: messages.slice(1) }) },
    "each message is stored once",
  ],
  [
    "a message stored twice",
    {
      rows: ({ messages }) => ({
        messages: [...messages, { ...REPLY, id: "x", seq: 3, role: "user", content: "Hi", generationId: null }],
      }),
    },
    "each message is stored once",
  ],
  [
    "a message in the chat and kept as well",
    { rows: () => ({ messagesKeptForRetry: ["Hi"] }) },
    "each message is stored once",
  ],
  ["a position nobody has", { messages: (reply) => [{ ...reply, seq: 4 }] }, "positions are whole, one variant active"],
  [
    "two active variants",
    { messages: (reply) => [reply, { ...reply, id: "x", variant: 1, generationId: null }] },
    "positions are whole, one variant active",
  ],
  [
    "an audit left prepared",
    { rows: ({ generations }) => ({ preparedAudits: generations.map(({ id }) => id) }) },
    "no audit is left prepared",
  ],
  ["a process that ended by itself", { deaths: ["worker-0 ended with 1"] }, "no process ends by itself"],
])("%s is found", (_what, planted, name) => {
  expect(objections(planted)).toContain(name);
});
