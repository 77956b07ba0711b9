import type { Turn } from "@shiftwork/contracts";
import {
  findLastMessages,
  findMessage,
  isOnPath,
  sliceOfPath,
  type BranchPath,
  type MessageRow,
  type Tx,
} from "@shiftwork/db";
import { fieldProblem, notFound, type HttpProblem } from "../errors.ts";
import { uuidOf } from "../routes/ids.ts";
import { waitsForReply } from "./waits-for-reply.ts";

/** What a turn answers. */
export interface TurnInput {
  /** The new user message; `null` = a stored one is answered. */
  readonly draft: { readonly content: string; readonly name: string | null } | null;
  /** The stored message that is answered; `null` = the draft is. */
  readonly inputMessageId: string | null;
  /** The reply that the new one stands beside; `null` = none. */
  readonly targetMessageId: string | null;
  /** The message the input hangs on. */
  readonly parentId: string | null;
}

/** Finds what a turn answers on the chat's active branch. Throws the problem that names the field. */
export function findInput(tx: Tx, path: BranchPath, turn: Turn): Promise<TurnInput> {
  switch (turn.action) {
    case "reply":
      return replyInput(tx, path, turn);
    case "regenerate":
    case "swipe":
      return anotherReplyInput(tx, path, turn);
  }
}

async function replyInput(tx: Tx, path: BranchPath, { message, targetMessageId }: Turn): Promise<TurnInput> {
  if (targetMessageId !== undefined) {
    const fix = 'Leave it out, or send "action": "regenerate" or "swipe".';
    throw fieldProblem("VALIDATION_FAILED", "/targetMessageId", "The action reply has no target.", fix);
  }
  if (message !== undefined) {
    const draft =
      typeof message === "string"
        ? { content: message, name: null }
        : { content: message.content, name: message.name ?? null };
    const [last] = await findLastMessages(tx, path, { count: 1 });
    return { draft, inputMessageId: null, targetMessageId: null, parentId: last?.id ?? null };
  }
  const [last] = await findLastMessages(tx, path, { count: 1 });
  if (last && waitsForReply(last)) return storedInput(tx, path, last, null);
  const text = "Without a message, the chat's last message must be the user's or a tool's.";
  throw fieldProblem("VALIDATION_FAILED", "/message", text, "Send a message.", "required");
}

/** Regenerate and swipe add nothing to what was said: they answer what their target answers, once more. */
async function anotherReplyInput(tx: Tx, path: BranchPath, turn: Turn): Promise<TurnInput> {
  if (turn.message !== undefined) {
    const text = `The action ${turn.action} answers a message that is there already.`;
    throw fieldProblem("VALIDATION_FAILED", "/message", text, "Leave it out.");
  }
  const named = uuidOf("message", turn.targetMessageId);
  if (named !== null) return inputOf(tx, path, await namedTarget(tx, path, named));
  const [last] = await findLastMessages(tx, path, { count: 1 });
  // Its reply failed, or was never asked for: that one is meant, not an older one.
  if (last && waitsForReply(last)) return storedInput(tx, path, last, null);
  const [target] = await findLastMessages(tx, path, { count: 1, role: "assistant" });
  if (!target) throw badTarget("The chat has no reply yet.", "Send a message with the action reply.");
  return inputOf(tx, path, target);
}

async function namedTarget(tx: Tx, path: BranchPath, id: string): Promise<MessageRow> {
  const target = await findMessage(tx, path.tenantId, path.chatId, id);
  if (!target) throw notFound("message");
  if (target.role !== "assistant") throw badTarget("It is no reply.", "Name a message of the role assistant.");
  if (isOnPath(path, target)) return target;
  throw badTarget("It is not on the chat's active branch.", `Activate a branch it is on, such as ${target.branch}.`);
}

async function inputOf(tx: Tx, path: BranchPath, target: MessageRow): Promise<TurnInput> {
  const before = sliceOfPath(path, { to: target.seq - 1 });
  const [input] = await findLastMessages(tx, before, { count: 1, sentOnly: true });
  if (!input)
    throw badTarget("It opens the chat: there is no message that it answers.", "Select another variant of it.");
  if (waitsForReply(input)) return storedInput(tx, path, input, target);
  throw badTarget("The message before it is not the user's or a tool's.", "Name a reply that follows such a message.");
}

async function storedInput(tx: Tx, path: BranchPath, input: MessageRow, target: MessageRow | null): Promise<TurnInput> {
  const [parent] = await findLastMessages(tx, sliceOfPath(path, { to: input.seq - 1 }), { count: 1 });
  const [parentId, targetMessageId] = [parent?.id ?? null, target?.id ?? null];
  return { draft: null, inputMessageId: input.id, targetMessageId, parentId };
}

function badTarget(text: string, fix: string): HttpProblem {
  return fieldProblem("VALIDATION_FAILED", "/targetMessageId", text, fix);
}
