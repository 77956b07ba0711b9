/** Who waits for events, by generation. */
export interface Readers {
  /** Returns how to leave. `onLast` is called when nobody is left of that generation. */
  add(generationId: string, onAppend: () => void, onLast?: () => void): () => void;
  has(generationId: string): boolean;
  wake(generationId: string): void;
  /** What was signalled while a connection was down is lost, so everybody reads again. */
  wakeAll(): void;
  clear(): void;
}

export function createReaders(): Readers {
  const readers = new Map<string, Set<() => void>>();
  const wake = (generationId: string): void => {
    for (const onAppend of readers.get(generationId) ?? []) onAppend();
  };
  return {
    add(generationId, onAppend, onLast) {
      const mine = readers.get(generationId) ?? new Set();
      readers.set(generationId, mine.add(onAppend));
      return () => {
        mine.delete(onAppend);
        if (mine.size > 0 || readers.get(generationId) !== mine) return;
        readers.delete(generationId);
        onLast?.();
      };
    },
    has: (generationId) => readers.has(generationId),
    wake,
    wakeAll: () => {
      for (const generationId of readers.keys()) wake(generationId);
    },
    clear: () => readers.clear(),
  };
}
