import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 25;

/** Resolves once `condition` holds; rejects when it does not within `timeoutMs`. A condition that throws does not hold. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (performance.now() < giveUpAt) {
    if (await holds(condition)) return;
    await delay(POLL_MS);
  }
  throw new Error(`${what}: not within ${timeoutMs} ms`);
}

async function holds(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await condition();
  } catch {
    return false;
  }
}
