import type { ClientRequest } from "node:http";
import { performance } from "node:perf_hooks";
import type { ProviderError } from "./provider.ts";

/** Closes the socket of one exchange when the caller aborts or the other side keeps silent. */
export interface ExchangeWatch {
  /** (Re)starts the clock: unless `rest` or `expect` comes within `ms`, the exchange is cut with `late()`. */
  expect(ms: number, late: () => ProviderError): void;
  /** Stops the clock: now it is our turn. */
  rest(): void;
  /** Throws what the exchange was cut for: the abort reason or the time-out. Does nothing when it was not. */
  throwIfCut(): void;
  /** Stops watching. Safe twice. */
  release(): void;
}

/** A clock that rings this much late rang in a process that stood still, not before a provider that did. */
const OVERSLEPT_MS = 100;
/** What has arrived meanwhile is read within this time. */
const READ_WITHIN_MS = 1_000;

export function watchExchange(request: ClientRequest, signal: AbortSignal): ExchangeWatch {
  let timer: NodeJS.Timeout | undefined;
  let cut: { readonly reason: unknown } | null = null;

  function closeSocket(reason: unknown): void {
    cut ??= { reason };
    clearTimeout(timer);
    request.destroy();
  }
  /** Timers ring before sockets are read: after a standstill the other side has its say first. */
  function ring(dueMs: number, late: () => ProviderError): void {
    const overslept = performance.now() - dueMs > OVERSLEPT_MS;
    timer = overslept ? setTimeout(() => closeSocket(late()), READ_WITHIN_MS) : undefined;
    if (!overslept) closeSocket(late());
  }
  const onAbort = (): void => closeSocket(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });

  return {
    expect(ms, late) {
      clearTimeout(timer);
      const dueMs = performance.now() + ms;
      if (cut === null) timer = setTimeout(() => ring(dueMs, late), ms);
    },
    rest: () => clearTimeout(timer),
    throwIfCut() {
      if (cut !== null) throw cut.reason;
    },
    release() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
