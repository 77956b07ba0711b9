import { canonicalJson, sha256Hex } from "./hash.ts";

/**
 * The seed of a turn that names none: depends on the chat and on the message the input hangs on (`null` = the chat's
 * first), so preview, send and regenerate of one turn roll the same.
 */
export function defaultSeed(chatId: string, parentMessageId: string | null): string {
  return sha256Hex(canonicalJson(["seed", chatId, parentMessageId])).slice(0, 32);
}
