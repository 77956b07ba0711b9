/**
 * Lets callers go on one at a time, with a round of the event loop between any two. However many previews run at once, a
 * stream waits for one slice of one of them.
 */
export function createTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
}

/** The event loop is the process's, so the turns are too. */
export const nextTurn = createTurns();
