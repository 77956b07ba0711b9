import type { After } from "./clock.ts";

/** What came of work that was bounded in time. */
export type Timed<T> = { readonly timedOut: true } | { readonly timedOut: false; readonly value: T };

/**
 * Runs work for at most `timeoutMs` (without `after`: as long as it takes). The work's own signal aborts when the time is
 * over or the caller's signal aborts; then this throws the caller's reason. Rejects as the work does.
 */
export async function withinTime<T>(
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  timeoutMs: number,
  host: { readonly after?: After | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Timed<T>> {
  const { after, signal } = host;
  signal?.throwIfAborted();
  const ended = new AbortController();
  let forward = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    forward = () => reject(signal?.reason);
    signal?.addEventListener("abort", forward, { once: true });
  });
  try {
    const working = Promise.resolve(work(ended.signal)).then((value) => ({ timedOut: false, value }) as const);
    const timer = after?.(timeoutMs, ended.signal).then(() => ({ timedOut: true }) as const);
    return await Promise.race(timer === undefined ? [working, aborted] : [working, aborted, timer]);
  } finally {
    signal?.removeEventListener("abort", forward);
    ended.abort();
  }
}
