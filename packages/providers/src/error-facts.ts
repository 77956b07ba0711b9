import { countAt, isObject, listAt, objectAt, parseJson, textAt, type JsonObject } from "./json-fields.ts";

/** Upstream text is matched up to here, in characters; a message says what it means at its start. */
const TEXT_LIMIT = 4_096;

/** What an error body says, in any of the shapes providers use. Stays inside this package: it holds upstream text. */
export interface ErrorFacts {
  /** Machine codes (`code`, `type`, `status`), lower case. */
  readonly codes: readonly string[];
  /** An HTTP status written into the body, else `null`. */
  readonly status: number | null;
  readonly text: string;
  /** The window and the prompt as llama.cpp states them beside its message, in its tokens. */
  readonly contextTokens: number | null;
  readonly promptTokens: number | null;
}

/**
 * Reads `{error: {…}}`, `{error: "…"}`, `[{error}]` (Gemini), the flat `{message, code, type}` (Mistral, vLLM),
 * `{detail}` (FastAPI), an upstream error quoted by a gateway (`metadata.raw`), and plain text.
 */
export function readErrorFacts(body: string): ErrorFacts {
  const parsed = parseJson(body);
  const root: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(root)) return { ...NOTHING_SAID, text: body.slice(0, TEXT_LIMIT) };
  const error = objectAt(root, "error") ?? root;
  const inner = objectAt(error, "innererror");
  const values = [error["code"], error["type"], error["status"], inner?.["code"], root["type"]];
  return {
    codes: values.filter((value) => typeof value === "string").map((value) => value.toLowerCase()),
    status: values.map(asStatus).find((status) => status !== null) ?? null,
    text: messagesOf(root, error).join("\n").slice(0, TEXT_LIMIT),
    contextTokens: countAt(error, "n_ctx"),
    promptTokens: countAt(error, "n_prompt_tokens"),
  };
}

const NOTHING_SAID: ErrorFacts = { codes: [], status: null, text: "", contextTokens: null, promptTokens: null };

function messagesOf(root: JsonObject, error: JsonObject): string[] {
  const details = listAt(root, "detail").map((entry) => (isObject(entry) ? textAt(entry, "msg") : ""));
  const quoted = textAt(objectAt(error, "metadata"), "raw");
  const texts = [textAt(error, "message"), textAt(root, "error"), textAt(root, "detail"), ...details, quoted];
  return texts.filter((text) => text !== "");
}

function asStatus(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 400 && number < 600 ? number : null;
}
