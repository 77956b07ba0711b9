/** Lets a fixed number of steps through: a test opens it when it has seen what it waited for. */
export interface Gate {
  /** Lets one more step pass; steps may be given before they are taken. */
  next(): void;
  /** Lets everything pass from now on. */
  open(): void;
  /** Waits for a step. */
  pass(): Promise<void>;
}

export function createGate(): Gate {
  const waiting: (() => void)[] = [];
  let free = 0;
  let isOpen = false;
  return {
    next() {
      const first = waiting.shift();
      if (first === undefined) free += 1;
      else first();
    },
    open() {
      isOpen = true;
      for (const release of waiting.splice(0)) release();
    },
    async pass() {
      if (isOpen) return;
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
