import { createHmac, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

/** `sw_<env>_<keyId 10>_<secret 32><checksum 6>`. */
const FORMAT = /^(sw_[a-z]{2,12}_([0-9A-Za-z]{10})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_ID_LENGTH = 10;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

export interface MadeApiKey {
  /** The whole key: shown once, never stored. */
  readonly key: string;
  /** What it is looked up by. */
  readonly keyId: string;
  readonly secretHash: Uint8Array;
}

/** Makes a key with 190 bits of secret. `environment`: 2 to 12 small letters that say where it belongs, such as `live`. */
export function makeApiKey(environment: string, pepper: string): MadeApiKey {
  if (!/^[a-z]{2,12}$/.test(environment)) throw new RangeError("a key's environment is 2 to 12 small letters");
  const keyId = randomText(KEY_ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  const body = `sw_${environment}_${keyId}_${secret}`;
  return { key: body + checksum(body), keyId, secretHash: hashSecret(secret, pepper) };
}

/** The parts of a key, or `null` for a typo: the checksum is verified without a look-up. */
export function parseApiKey(key: string): { readonly keyId: string; readonly secret: string } | null {
  const match = FORMAT.exec(key);
  if (!match) return null;
  const [, body = "", keyId = "", secret = "", sum] = match;
  return sum === checksum(body) ? { keyId, secret } : null;
}

/** HMAC-SHA-256 under the server's pepper: secrets are random, so a slow hash would only cost time. */
export function hashSecret(secret: string, pepper: string): Uint8Array {
  return createHmac("sha256", pepper).update(secret).digest();
}

/** Compares in constant time. */
export function isSameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** CRC-32 in base 62: finds typos and lets scanners recognise keys; it protects nothing. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = `${ALPHABET[rest % ALPHABET.length] ?? ""}${text}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
