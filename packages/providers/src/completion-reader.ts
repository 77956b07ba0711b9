import { countAt, isObject, listAt, objectAt, textAt, type JsonObject } from "./json-fields.ts";
import { interrupted } from "./network-error.ts";
import { ProviderError, type StreamPart } from "./provider.ts";
import { createToolCallReader } from "./tool-calls.ts";
import { createWholeText, wellFormed } from "./whole-text.ts";

/** `open` until an end mark was seen, `finished` after `finish_reason`, `done` after `[DONE]`. */
type Progress = "open" | "finished" | "done";

/** Turns chunks of chat and text completions into parts: `delta`, `message` or `text` of the first choice. Every field of a chunk may be missing. */
export interface CompletionReader {
  accept(chunk: JsonObject): readonly StreamPart[];
  /** `[DONE]` was read; nothing after it counts. */
  done(): readonly StreamPart[];
  progress(): Progress;
  /** What is left, then `end`. Throws `ProviderError` when the reply is unfinished, filtered or empty. */
  finish(): Generator<StreamPart>;
}

export function createCompletionReader(): CompletionReader {
  const text = createAnswerText();
  const reasoning = createWholeText();
  const toolCalls = createToolCallReader();
  let hasReasoned = false;
  let usageKey = "";
  let finishReason: string | null = null;
  let isDone = false;

  function* read(chunk: JsonObject): Generator<StreamPart> {
    const choice = firstChoice(chunk);
    const delta = objectAt(choice, "delta") ?? objectAt(choice, "message");
    const thought = reasoning.push(textAt(delta, "reasoning_content") || textAt(delta, "reasoning"));
    if (thought !== "") yield { type: "reasoning", delta: thought };
    hasReasoned ||= thought !== "";
    const said = text.push(contentText(delta) || textAt(delta, "refusal") || textAt(choice, "text"));
    if (said !== "") yield { type: "text", delta: said };
    for (const entry of listAt(delta, "tool_calls")) {
      const part = toolCalls.accept(entry);
      if (part !== null) yield part;
    }
    finishReason = wellFormed(textAt(choice, "finish_reason")) || finishReason;
    const usage = readUsage(chunk);
    if (usage === null || JSON.stringify(usage) === usageKey) return;
    usageKey = JSON.stringify(usage);
    yield usage;
  }

  function* finish(): Generator<StreamPart> {
    if (finishReason === null && !isDone) throw interrupted();
    const thought = reasoning.flush();
    if (thought !== "") yield { type: "reasoning", delta: thought };
    const said = text.flush();
    if (said !== "") yield { type: "text", delta: said };
    if (finishReason === "error") throw interrupted();
    if (finishReason === "content_filter") throw filtered();
    if (!text.hasBegun() && toolCalls.count() === 0) throw emptyCompletion(finishReason, hasReasoned);
    yield { type: "end", finishReason: finishReason ?? "stop" };
  }

  return {
    accept: (chunk) => [...read(chunk)],
    done() {
      isDone = true;
      return [];
    },
    progress: () => (isDone ? "done" : finishReason === null ? "open" : "finished"),
    finish,
  };
}

/** Whole characters, and no white space before the first visible one: a blank reply is an empty one. */
function createAnswerText() {
  const whole = createWholeText();
  let blank = "";
  let hasBegun = false;
  function release(delta: string): string {
    if (hasBegun) return delta;
    blank += delta;
    if (blank.trim() === "") return "";
    hasBegun = true;
    return blank;
  }
  return {
    push: (delta: string) => release(whole.push(delta)),
    flush: () => release(whole.flush()),
    hasBegun: () => hasBegun,
  };
}

/** Only one choice is asked for; a server that sends more has numbered them. */
function firstChoice(chunk: JsonObject): JsonObject | null {
  const choices = listAt(chunk, "choices").filter(isObject);
  return choices.find((choice) => (choice["index"] ?? 0) === 0) ?? null;
}

/** Content is text, or a list of parts of which the text ones count. */
function contentText(delta: JsonObject | null): string {
  const parts = listAt(delta, "content").filter(isObject);
  return textAt(delta, "content") || parts.map((part) => textAt(part, "text")).join("");
}

/** Cached tokens stand in `prompt_tokens_details` (OpenAI) or `prompt_cache_hit_tokens` (DeepSeek). */
function readUsage(chunk: JsonObject): Extract<StreamPart, { type: "usage" }> | null {
  const usage = objectAt(chunk, "usage");
  if (usage === null) return null;
  return {
    type: "usage",
    inputTokens: countAt(usage, "prompt_tokens"),
    outputTokens: countAt(usage, "completion_tokens"),
    cacheReadTokens:
      countAt(objectAt(usage, "prompt_tokens_details"), "cached_tokens") ?? countAt(usage, "prompt_cache_hit_tokens"),
  };
}

function filtered(): ProviderError {
  const message = "The provider's content filter stopped the reply.";
  return new ProviderError("PROVIDER_CONTENT_FILTERED", message, { retryable: false });
}

function emptyCompletion(finishReason: string | null, hasReasoned: boolean): ProviderError {
  const message =
    finishReason === "length"
      ? `The model used up max_tokens ${hasReasoned ? "on its reasoning " : ""}before it wrote a reply; raise the reply's reserve.`
      : "The model ended without writing a reply.";
  return new ProviderError("EMPTY_COMPLETION", message, { retryable: false });
}
