import type { ClientRequest } from "node:http";
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

export function watchExchange(request: ClientRequest, signal: AbortSignal): ExchangeWatch {
  let timer: NodeJS.Timeout | undefined;
  let cut: { readonly reason: unknown } | null = null;

  function closeSocket(reason: unknown): void {
    cut ??= { reason };
    clearTimeout(timer);
    request.destroy();
  }
  const onAbort = (): void => closeSocket(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });

  return {
    expect(ms, late) {
      clearTimeout(timer);
      if (cut === null) timer = setTimeout(() => closeSocket(late()), ms);
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
