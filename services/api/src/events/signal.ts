/** Wakes one waiter. What was raised while nobody waited counts for the next wait. */
export interface Signal {
  raise(): void;
  /** True when raised or closed before `timeoutMs` has passed. */
  wait(timeoutMs: number): Promise<boolean>;
  /** Ends all waiting for good; the first reason stays. */
  close(reason: "drain" | "gone"): void;
  readonly closed: "drain" | "gone" | null;
  /** Calls `listener` once at the close, at once when closed. Returns how to take it back. */
  onClose(listener: () => void): () => void;
}

export function createSignal(): Signal {
  const listeners = new Set<() => void>();
  let raised = false;
  let closed: Signal["closed"] = null;
  let release: (() => void) | null = null;
  return {
    raise() {
      raised = true;
      release?.();
    },
    wait(timeoutMs) {
      return new Promise((resolve) => {
        const settle = (woken: boolean) => {
          clearTimeout(timer);
          release = null;
          raised = false;
          resolve(woken);
        };
        const timer = setTimeout(() => settle(false), timeoutMs);
        release = () => settle(true);
        if (raised || closed !== null) settle(true);
      });
    },
    close(reason) {
      closed ??= reason;
      release?.();
      for (const listener of listeners) listener();
      listeners.clear();
    },
    get closed() {
      return closed;
    },
    onClose(listener) {
      if (closed === null) listeners.add(listener);
      else listener();
      return () => listeners.delete(listener);
    },
  };
}
