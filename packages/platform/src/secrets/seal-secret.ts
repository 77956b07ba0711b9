import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** First byte of a sealed secret: AES-256-GCM, then 12 bytes nonce, 16 bytes tag, the rest ciphertext. */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/**
 * The key of the given base64 text. Throws when it is not exactly 32 bytes.
 */
export function readMasterKey(base64: string): Uint8Array {
  const key = Buffer.from(base64, "base64");
  if (key.length !== KEY_BYTES)
    throw new Error(`a master key is ${KEY_BYTES} bytes in base64; this one has ${key.length}`);
  return key;
}

/** What a provider's secret is bound to: a sealed secret moved to another row or tenant does not open. */
export function providerSecretContext(tenantId: string, providerId: string): string {
  return `provider:${tenantId}:${providerId}`;
}

/** Encrypts `secret` under the master key (32 bytes), bound to `context`. A fresh nonce each time. */
export function sealSecret(masterKey: Uint8Array, secret: string, context: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", masterKey, nonce).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), encrypted]);
}

/** Decrypts what `sealSecret` made. Throws when the key or the context is another one, or a byte was changed. */
export function openSecret(masterKey: Uint8Array, sealed: Uint8Array, context: string): string {
  const bytes = Buffer.from(sealed);
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const encrypted = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
  if (bytes[0] !== VERSION || tag.length !== TAG_BYTES) throw new Error("this is no sealed secret");
  const decipher = createDecipheriv("aes-256-gcm", masterKey, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new Error("the sealed secret does not open under this master key and for this use", { cause });
  }
}
