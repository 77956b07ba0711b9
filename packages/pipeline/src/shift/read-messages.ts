import type { BlockSource } from "../block.ts";
import type { ExcludedReason } from "../reasons.ts";
import { linkToolCalls } from "../wire/tool-links.ts";
import { isProtectedBlock } from "./protection.ts";
import { callIdOf, callsOf, isSystem, sourceOf, type ContextMessage } from "./context-message.ts";

/** Messages by index, read in one pass: who is protected, who belongs together, who cannot be sent. */
export interface Reading {
  /** The current input; −1 = there is none. */
  readonly inputIndex: number;
  /** Itself protected, whatever its group. */
  readonly isLocked: (index: number) => boolean;
  /** Plain history that no group, mark or source sets apart; it leaves oldest first. */
  readonly isOrdinary: (index: number) => boolean;
  /** For calls and results that belong together: the message with the calls. */
  readonly headOf: ReadonlyMap<number, number>;
  /** By that message's index: all members, in order. */
  readonly callGroups: ReadonlyMap<number, readonly number[]>;
  /** Calls and results that cannot be sent, whatever the budget. */
  readonly broken: ReadonlyMap<number, ExcludedReason>;
}

const ORDINARY = 0;
const LOCKED = 1;
const SET_APART = 2;

/** What the caller's options say of single messages. */
export interface Marks {
  /** A system message that may leave. */
  isOptional(message: ContextMessage, index: number): boolean;
  /** A message that leaves even when everything fits. */
  leavesAnyway(message: ContextMessage): boolean;
}

/** Reads plain messages and blocks. */
export function readMessages(messages: readonly ContextMessage[], marks: Marks): Reading {
  const kinds = new Uint8Array(messages.length);
  const withTools: number[] = [];
  let inputIndex = -1;
  let inputIsNamed = false;
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index] ?? {};
    const source = sourceOf(message);
    kinds[index] = kindOf(message, source, index, marks);
    if (isToolPart(message)) withTools.push(index);
    else if (source === "input" || (message.role === "user" && isBranch(source) && !inputIsNamed)) inputIndex = index;
    if (source === "input") inputIsNamed = true;
  }
  if (inputIndex !== -1) kinds[inputIndex] = LOCKED;
  return {
    inputIndex,
    isLocked: (index) => kinds[index] === LOCKED,
    isOrdinary: (index) => kinds[index] === ORDINARY,
    ...groupCalls(messages, withTools, kinds),
  };
}

function isBranch(source: BlockSource | null): boolean {
  return source === null || source === "history" || source === "input";
}

function kindOf(message: ContextMessage, source: BlockSource | null, index: number, marks: Marks): number {
  if (source !== null && source !== "history") {
    const block = { source, pinned: message.pinned === true, required: message.required === true };
    return isProtectedBlock(block) ? LOCKED : SET_APART;
  }
  if (message.pinned === true || message.required === true) return LOCKED;
  // A block says `required: false` where stage `select` found it optional.
  if (isSystem(message) && message.required !== false && !marks.isOptional(message, index)) return LOCKED;
  return (message.groupId ?? null) !== null || marks.leavesAnyway(message) ? SET_APART : ORDINARY;
}

function isToolPart(message: ContextMessage): boolean {
  if (message.role === "tool") return true;
  const calls = message.tool_calls ?? message.toolCalls;
  return calls !== undefined && calls !== null && calls.length > 0;
}

/** The tool rules of stage `select`, for the messages that are calls or results. */
function groupCalls(messages: readonly ContextMessage[], withTools: readonly number[], kinds: Uint8Array) {
  const headOf = new Map<number, number>();
  const callGroups = new Map<number, number[]>();
  const broken = new Map<number, ExcludedReason>();
  const links = linkToolCalls(withTools.map((index) => toLinked(messages[index] ?? {})));
  links.forEach((link, at) => {
    const index = withTools[at] ?? -1;
    const head = link.head === null ? undefined : withTools[link.head];
    if (link.broken !== null) broken.set(index, link.broken);
    if (head === undefined) return;
    headOf.set(index, head);
    const members = callGroups.get(head);
    if (members === undefined) callGroups.set(head, [index]);
    else members.push(index);
    if (kinds[index] === ORDINARY) kinds[index] = SET_APART;
  });
  return { headOf, callGroups, broken };
}

function toLinked(message: ContextMessage) {
  const role = message.role === "tool" ? ("tool" as const) : ("assistant" as const);
  const calls = role === "tool" ? [] : callsOf(message);
  const distinct = calls.filter((call, at) => calls.findIndex((other) => other.id === call.id) === at);
  return { role, toolCalls: distinct, toolCallId: callIdOf(message) };
}
