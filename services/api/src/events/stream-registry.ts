/** The open streams of this process, so that a drain can end them politely. */
export interface StreamRegistry {
  /** `end` is called at a drain, at once when it has begun already. Returns how to take it off the list. */
  add(end: () => void): () => void;
  readonly size: number;
  /** Ends every stream, now and from now on. Safe twice. */
  endAll(): void;
}

export function createStreamRegistry(): StreamRegistry {
  const open = new Set<() => void>();
  let draining = false;
  return {
    add(end) {
      if (draining) end();
      else open.add(end);
      return () => open.delete(end);
    },
    get size() {
      return open.size;
    },
    endAll() {
      draining = true;
      for (const end of open) end();
      open.clear();
    },
  };
}
