/** Places of which only so many are taken at once. Who waits for one waits in a line of their own group's. */
export interface Turns {
  /**
   * Resolves when a place is free, with what gives it back (safe twice). Groups take turns; within one, the first to
   * come is the first to go. Rejects with the signal's reason, and is out of the line then.
   */
  take(group: string, signal?: AbortSignal): Promise<() => void>;
  /** Whether the next to come need not wait. */
  isFree(): boolean;
  /** How many wait: of one group, or of all. */
  waiting(group?: string): number;
}

/** One who waits; called when the place is theirs. */
type Waiting = () => void;

/** @param places Taken at once, at most. */
export function createTurns(places: number): Turns {
  // In the order of their turns: a group that was served and still waits goes to the end.
  const lines = new Map<string, Waiting[]>();
  let taken = 0;

  function giveBack(): void {
    const [first] = lines;
    if (first === undefined) {
      taken -= 1;
      return;
    }
    const [group, line] = first;
    const next = line.shift();
    lines.delete(group);
    if (line.length > 0) lines.set(group, line);
    next?.();
  }

  function place(): () => void {
    let given = false;
    return () => {
      if (!given) giveBack();
      given = true;
    };
  }

  function leave(group: string, waiting: Waiting): void {
    const rest = (lines.get(group) ?? []).filter((each) => each !== waiting);
    if (rest.length > 0) lines.set(group, rest);
    else lines.delete(group);
  }

  return {
    async take(group, signal) {
      signal?.throwIfAborted();
      if (taken < places) {
        taken += 1;
        return place();
      }
      return new Promise((resolve, reject) => {
        const called: Waiting = () => {
          signal?.removeEventListener("abort", onAbort);
          resolve(place());
        };
        const onAbort = (): void => {
          leave(group, called);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        const line = lines.get(group);
        if (line === undefined) lines.set(group, [called]);
        else line.push(called);
      });
    },
    isFree: () => taken < places,
    waiting(group) {
      if (group !== undefined) return lines.get(group)?.length ?? 0;
      return [...lines.values()].reduce((sum, line) => sum + line.length, 0);
    },
  };
}
