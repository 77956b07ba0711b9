import type { Block, ToolCall } from "../block.ts";
import type { ChatRequest, ChatRequestMessage } from "../prompt.ts";
import type { AssemblySettings, SamplingParameters, ToolDefinition } from "../settings.ts";
import type { WireTool } from "../tokens/counter.ts";
import { chooseStopStrings } from "./stop-strings.ts";

/** What was changed on the way to the wire; stored text is never touched. */
export type WireRepair =
  | "name_sanitised"
  | "name_dropped"
  | "blank_result_filled"
  | "blank_arguments_filled"
  | "call_name_sanitised"
  | "ill_formed_text_replaced"
  | "control_text_neutralised"
  | "stop_string_left_out"
  | "tools_not_sent";

/** A block as it goes over the wire. */
export interface WireMessage {
  readonly message: ChatRequestMessage;
  readonly repairs: readonly WireRepair[];
}

/** The parts of a block that reach the wire. */
export type WireBlock = Pick<Block, "role" | "content" | "name" | "toolCalls" | "toolCallId">;

/** Sent instead of a tool's blank answer, which providers refuse. */
const BLANK_RESULT = "(no output)";
const LONGEST_NAME = 64;

/**
 * One block, one chat-completions message: what is counted is this. Blank text is filled or becomes `null` beside calls,
 * names are reduced to `[a-zA-Z0-9_-]{1,64}` or dropped, lone surrogates become U+FFFD.
 */
export function toWireMessage(block: WireBlock): WireMessage {
  const repairs: WireRepair[] = [];
  const content = wireContent(block, repairs);
  if (block.role === "tool") {
    return { message: { role: "tool", content, tool_call_id: block.toolCallId ?? "" }, repairs };
  }
  const name = wireName(block.name, repairs);
  const calls = block.role === "assistant" ? block.toolCalls : [];
  const message: ChatRequestMessage = { role: block.role, content };
  // Most messages carry neither: a prompt has hundreds, and each is made several times.
  if (name === null && calls.length === 0) return { message, repairs };
  const more = {
    ...(name === null ? {} : { name }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wireCall(call, repairs)) }),
  };
  return { message: { ...message, ...more }, repairs };
}

function wireContent(block: WireBlock, repairs: WireRepair[]): string | null {
  const blank = block.content.trim() === "";
  if (blank && block.role === "assistant" && block.toolCalls.length > 0) return null;
  if (blank && block.role === "tool") {
    repairs.push("blank_result_filled");
    return BLANK_RESULT;
  }
  return wellFormed(block.content, repairs);
}

function wellFormed(text: string, repairs: WireRepair[]): string {
  if (text.isWellFormed()) return text;
  repairs.push("ill_formed_text_replaced");
  return text.toWellFormed();
}

function wireName(name: string | null, repairs: WireRepair[]): string | null {
  if (name === null || name.trim() === "") return null;
  const allowed = allowedName(name);
  if (allowed !== name) repairs.push(allowed === null ? "name_dropped" : "name_sanitised");
  return allowed;
}

function allowedName(name: string): string | null {
  const letters = name
    .slice(0, 4 * LONGEST_NAME)
    .normalize("NFKD")
    .trim();
  const allowed = letters.replace(/\s+/g, "_").replace(/[^a-zA-Z0-9_-]/g, "");
  return /[a-zA-Z0-9]/.test(allowed) ? allowed.slice(0, LONGEST_NAME) : null;
}

type WireCall = NonNullable<ChatRequestMessage["tool_calls"]>[number];

function wireCall(call: ToolCall, repairs: WireRepair[]): WireCall {
  const name = allowedName(call.name) ?? "unknown";
  if (name !== call.name) repairs.push("call_name_sanitised");
  const blank = call.arguments.trim() === "";
  if (blank) repairs.push("blank_arguments_filled");
  const text = blank ? "{}" : wellFormed(call.arguments, repairs);
  return { id: call.id, type: "function", function: { name, arguments: text } };
}

/** Tool definitions in the request's own shape; they are counted as overhead. */
export function wireTools(tools: readonly ToolDefinition[]): readonly WireTool[] {
  return tools.map((tool) => ({
    type: "function",
    function: {
      name: tool.name,
      ...(tool.description === null ? {} : { description: tool.description }),
      parameters: tool.parameters,
    },
  }));
}

/**
 * The body of `POST /chat/completions`, complete: the provider sends it as it is. Samplers that are unset stay out;
 * `parameters.extra` can add parameters but none of the ones set here.
 */
export function chatRequest(
  settings: Pick<AssemblySettings, "model" | "parameters" | "tools">,
  messages: readonly ChatRequestMessage[],
  maxTokens: number,
): ChatRequest {
  const { parameters } = settings;
  const tools = wireTools(settings.tools);
  return {
    ...parameters.extra,
    ...samplers(parameters),
    ...(tools.length === 0 ? {} : { tools }),
    model: settings.model,
    messages,
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** The samplers that were given, under their wire names; chat and text completions share them. */
export function samplers(parameters: SamplingParameters): { readonly [parameter: string]: unknown } {
  const { sent: stop } = chooseStopStrings(parameters.stop ?? []);
  const optional = {
    temperature: parameters.temperature,
    top_p: parameters.topP,
    frequency_penalty: parameters.frequencyPenalty,
    presence_penalty: parameters.presencePenalty,
    stop: stop.length === 0 ? undefined : stop,
    seed: parameters.seed,
  };
  return Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
}
