import { setTimeout as delay } from "node:timers/promises";
import type { Answer, ApiClient } from "./api-client.ts";
import { follow, type Followed } from "./followed.ts";
import { messageOf, SHORT_DEADLINE_MS, type TurnPlan } from "./plan-turn.ts";
import { isTerminalType, readEvents, type SeenEvent } from "./read-events.ts";

/** A chat of one tenant, its client, and where what was seen is kept. */
export interface Conversation {
  readonly api: ApiClient;
  readonly tenant: number;
  readonly chatId: string;
  /** Whether this installation knows `onBusy`. */
  readonly knowsOnBusy: boolean;
  readonly followed: Followed[];
  /** Answers nobody should ever get. */
  readonly surprises: string[];
}

const POLL_MS = 120;
/** What a generation may take beyond its deadline (G1), and a little for the polling itself. */
const BEYOND_DEADLINE_MS = 12_000;

/** Sends one turn, does to it what its plan says, and stays with it until it has ended. False = it has not in time. */
export async function runTurn(talk: Conversation, plan: TurnPlan): Promise<boolean> {
  const turn = await sendTurn(talk, plan);
  if (turn === null) return false;
  const beside = plan.beside === null ? null : sendBeside(talk, plan, turn);
  await stayWith(talk, plan, turn);
  await beside;
  if (plan.repeat === "afterwards") await repeat(talk, plan, turn);
  if (plan.reread) await reread(talk, plan, turn);
  if (plan.retry && beside === null && ["failed", "cancelled"].includes(turn.ends.at(-1) ?? "")) {
    return retry(talk, plan, turn);
  }
  return turn.ends.length > 0;
}

async function sendTurn(talk: Conversation, plan: TurnPlan): Promise<Followed | null> {
  const send = (): Promise<Answer> => postTurn(talk, plan, "");
  // Two at once with the same key: one is the turn, the other its repeat.
  const [answer, ...others] = await Promise.all(plan.repeat === "at-once" ? [send(), send()] : [send()]);
  const turn = answer && accepted(talk, plan, answer, messageOf(plan));
  turn?.repeats.push(...others.map(({ body }) => body.id ?? "none"));
  return turn ?? null;
}

function postTurn({ api, chatId }: Conversation, plan: TurnPlan, part: string, onBusy?: string): Promise<Answer> {
  const body = { message: messageOf(plan, part), deadlineMs: plan.deadlineMs, ...(onBusy ? { onBusy } : {}) };
  return api.call("POST", `/chats/${chatId}/generations`, { body, idempotencyKey: `turn-${plan.number}${part}` });
}

function accepted(talk: Conversation, plan: TurnPlan, answer: Answer, message: string | null): Followed | null {
  const { id } = answer.body;
  if (answer.status !== 202 || id === undefined) {
    talk.surprises.push(`turn ${plan.number} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
  const shortDeadline = plan.deadlineMs === SHORT_DEADLINE_MS;
  const turn = follow({ id, tenant: talk.tenant, scenario: plan.scenario, shortDeadline, message });
  talk.followed.push(turn);
  return turn;
}

async function stayWith(talk: Conversation, plan: TurnPlan, turn: Followed): Promise<void> {
  const giveUpAt = performance.now() + plan.deadlineMs + BEYOND_DEADLINE_MS;
  const cancel = plan.cancel;
  const cancelling: Promise<void>[] = [];
  const cancelSoon = (delayMs: number): void => {
    if (cancelling.length === 0) cancelling.push(delay(delayMs).then(() => cancelTurn(talk, turn)));
  };
  if (cancel?.when === "after") cancelSoon(cancel.delayMs);
  const onEvent = (event: SeenEvent): void => {
    if (cancel?.when === "at-end" && event.data.delta?.endsWith("fin.")) cancelSoon(cancel.delayMs);
  };
  if (plan.readerDropsAfter === null) await pollUntilEnded(talk, turn, giveUpAt);
  else {
    const options = { dropsAfter: plan.readerDropsAfter, giveUpAt, onEvent };
    turn.events = await readEvents(talk.api, turn.id, options);
    turn.ends.push(...turn.events.filter(({ type }) => isTerminalType(type)).map(({ data }) => data.status ?? "none"));
  }
  await Promise.all(cancelling);
  if (turn.ends.length > 0) await noteStatus(talk, turn);
}

async function cancelTurn({ api, surprises }: Conversation, turn: Followed): Promise<void> {
  const { status, body } = await api.call("POST", `/generations/${turn.id}/cancel`, { body: {} });
  if (status === 200 || status === 202) turn.cancel = "accepted";
  else if (status === 409 && body.code === "GENERATION_ALREADY_FINISHED") turn.cancel = "refused";
  else surprises.push(`the cancel of ${turn.id} was answered ${status} ${JSON.stringify(body)}`);
}

async function pollUntilEnded(talk: Conversation, turn: Followed, giveUpAt: number): Promise<void> {
  while (performance.now() < giveUpAt && !(await noteStatus(talk, turn))) await delay(POLL_MS);
}

/** Asks for the generation; true = it has ended, and the status was noted. */
async function noteStatus({ api, surprises }: Conversation, turn: Followed): Promise<boolean> {
  const { status, body } = await api.call("GET", `/generations/${turn.id}`);
  if (status !== 200) surprises.push(`${turn.id} was answered ${status} after its 202`);
  const ended = ["completed", "failed", "cancelled"].includes(String(body.status));
  if (ended) turn.ends.push(String(body.status));
  return ended;
}

/** Another turn while this one may be active: refused, made to wait, or taking its place; never a second active one. */
async function sendBeside(talk: Conversation, plan: TurnPlan, turn: Followed): Promise<void> {
  const onBusy = talk.knowsOnBusy ? (plan.beside ?? undefined) : undefined;
  await delay(plan.words * 5);
  if (onBusy === "supersede") turn.superseded = true;
  const answer = await postTurn(talk, plan, "-beside", onBusy);
  if (answer.status === 409 && answer.body.code === "CHAT_BUSY" && onBusy !== "queue" && onBusy !== "supersede") return;
  const other = accepted(talk, plan, answer, messageOf(plan, "-beside"));
  if (other === null) return;
  await pollUntilEnded(talk, other, performance.now() + 2 * plan.deadlineMs + BEYOND_DEADLINE_MS);
}

async function repeat(talk: Conversation, plan: TurnPlan, turn: Followed): Promise<void> {
  const answer = await postTurn(talk, plan, "");
  turn.repeats.push(answer.body.id ?? `${answer.status}`);
}

async function reread(talk: Conversation, plan: TurnPlan, turn: Followed): Promise<void> {
  const last = turn.events?.at(-1)?.seq ?? 0;
  if (last < 2 || turn.ends.length === 0) return;
  const after = plan.number % (last - 1);
  const giveUpAt = performance.now() + BEYOND_DEADLINE_MS;
  turn.reread = { after, events: await readEvents(talk.api, turn.id, { after, giveUpAt }) };
}

async function retry(talk: Conversation, plan: TurnPlan, earlier: Followed): Promise<boolean> {
  const idempotencyKey = `retry-${plan.number}`;
  const answer = await talk.api.call("POST", `/generations/${earlier.id}/retry`, { body: {}, idempotencyKey });
  const again = accepted(talk, plan, answer, null);
  if (again === null) return false;
  await stayWith(talk, { ...plan, cancel: null }, again);
  return again.ends.length > 0;
}
