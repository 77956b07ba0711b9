/** Stands in for what is not logged. */
export const MASK = "[redacted]";

/** Keys of credentials, lower case, without `-` and `_`. */
const CREDENTIALS = new Set([
  "authorization",
  "proxyauthorization",
  "cookie",
  "setcookie",
  "apikey",
  "xapikey",
  "password",
  "secret",
  "masterkey",
  "pepper",
  "accesstoken",
  "refreshtoken",
  "privatekey",
  "databaseurl",
  "redisurl",
]);

/** Keys under which the text of messages and prompts travels. */
const CONTENT = new Set([
  "content",
  "text",
  "prompt",
  "messages",
  "delta",
  "output",
  "input",
  "body",
  "completion",
  "description",
  "personality",
  "scenario",
  "firstmessage",
  // PostgreSQL repeats the failing row in these two.
  "detail",
  "where",
]);

/** Deeper objects are cut off: log lines are shallow, and a cycle must end somewhere. */
const MAXIMUM_DEPTH = 6;

/**
 * A copy of `value` in which credentials, and unless `showContent` the text of messages, are replaced at any depth.
 * Bytes are replaced by their number; errors are left to the error serialiser.
 */
export function censor(value: unknown, showContent: boolean, depth = 0): unknown {
  if (value === null || typeof value !== "object" || value instanceof Error) return value;
  if (depth === MAXIMUM_DEPTH) return "[deep]";
  if (Array.isArray(value)) return value.map((item) => censor(item, showContent, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // Requests and the like have serialisers of their own, which run later and need the real object.
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    isHidden(key, showContent) && item !== undefined ? MASK : censor(item, showContent, depth + 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}

function isHidden(key: string, showContent: boolean): boolean {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, "");
  return CREDENTIALS.has(plain) || (!showContent && CONTENT.has(plain));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
