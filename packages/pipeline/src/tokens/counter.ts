import type { ChatRequestMessage } from "../prompt.ts";
import type { ToolDefinition } from "../settings.ts";
import type { WireBlock } from "../wire/openai-chat.ts";
import type { Profile } from "./profile.ts";
import { rememberedCount } from "./remembered-count.ts";

/** Counts for one assembly: every text is tokenised once, whichever stage asks. */
export interface Counter {
  readonly profile: Profile;
  /** Tokens of plain text, without framing. */
  readonly countText: (text: string) => number;
  /** The whole cost of one wire message: framing, role, name, text, calls. */
  readonly countMessage: (message: ChatRequestMessage) => number;
  /** What a block costs on this assembly's wire. Absent = as a chat message of its own. */
  readonly countBlock?: (block: WireBlock) => number;
}

/**
 * A counter with its own cache, so that one assembly never counts a text twice; what another has counted is remembered.
 */
export function createCounter(profile: Profile): Counter {
  const known = new Map<string, number>();

  function countText(text: string): number {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    // A calibrated profile remembers what it multiplies.
    const tokens = profile.calibration === undefined ? rememberedCount(profile, text) : profile.countText(text);
    known.set(text, tokens);
    return tokens;
  }

  return {
    profile,
    countText,
    countMessage: (message) => countMessage(profile, message, countText),
  };
}

/** The whole cost of one wire message in tokens; additive, priming excluded. `countText` defaults to the profile's own. */
export function countMessage(
  profile: Profile,
  message: ChatRequestMessage,
  countText: (text: string) => number = (text) => profile.countText(text),
): number {
  const { framing } = profile;
  let tokens = framing.perMessage + countText(message.role) + countText(message.content ?? "");
  if (message.name !== undefined) tokens += framing.perName + countText(message.name);
  if (message.tool_call_id !== undefined) tokens += framing.toolResult + countText(message.tool_call_id);
  for (const call of message.tool_calls ?? []) {
    tokens +=
      framing.toolCall + countText(call.id) + countText(call.function.name) + countText(call.function.arguments);
  }
  return tokens;
}

/** A tool as it stands in the request. */
export interface WireTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: ToolDefinition["parameters"];
  };
}

/**
 * Cost of what is not a message: priming, tool schemas, and pass-through parameters with structure (`response_format`,
 * `prediction`), which providers put before the model. Each counts as its JSON text, which is longer than the form it is
 * rendered to; scalars are samplers and cost nothing.
 */
export function countOverhead(
  counter: Counter,
  tools: readonly WireTool[],
  extra: { readonly [parameter: string]: unknown } = {},
): number {
  const { framing } = counter.profile;
  let tokens = framing.priming + countParameters(counter, extra);
  for (const tool of tools) tokens += framing.toolDefinition + counter.countText(JSON.stringify(tool));
  return tokens;
}

/** Cost of pass-through parameters: those with structure as their JSON text, scalars nothing. */
export function countParameters(counter: Counter, extra: { readonly [parameter: string]: unknown } = {}): number {
  const structured = Object.values(extra).filter((value) => typeof value === "object" && value !== null);
  return structured.reduce<number>((sum, value) => sum + counter.countText(JSON.stringify(value)), 0);
}
