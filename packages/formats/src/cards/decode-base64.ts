import { ImportError } from "../errors.ts";

const ALPHABET = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Base64 or base64url, with or without padding and line breaks, as the writers of cards produce it.
 *
 * @throws ImportError `card_encoding` for anything else, JSON in the clear included.
 */
export function decodeBase64(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1").replace(/\s+/g, "");
  if (text === "") throw notBase64("it is empty");
  if (!ALPHABET.test(text)) throw notBase64(text.startsWith("{") ? "it is plain JSON" : "it is something else");
  return Buffer.from(text, "base64");
}

function notBase64(what: string): ImportError {
  const message = `The picture's card data must be base64, but ${what}.`;
  return new ImportError("card_encoding", message, "Export the card again from the application that made it.");
}
