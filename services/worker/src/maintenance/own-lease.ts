/** Times in milliseconds. Two clocks: one stands still while a machine sleeps, the other may be set. */
export interface LeaseClock {
  monotonicMs(): number;
  wallMs(): number;
}

/** How long ago this worker last said that it lives. Past its lease others may have taken its runs. */
export interface OwnLease<Found = unknown> {
  /** By either clock. True until it was renewed for the first time. */
  isOver(): boolean;
  /** Says that this worker lives and looks what became of its runs. Who comes while it is under way waits for the same. */
  renew(): Promise<Found>;
}

const CLOCK: LeaseClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** `sweep` renews it in the database and aborts the runs that were taken away. */
export function createOwnLease<Found>(
  { sweep, deadAfterMs }: { readonly sweep: () => Promise<Found>; readonly deadAfterMs: number },
  clock: LeaseClock = CLOCK,
): OwnLease<Found> {
  let [renewedMs, renewedWallMs] = [-Infinity, -Infinity];
  let renewing: Promise<Found> | null = null;

  // Counted from before the question: how long its answer has lain here nobody knows.
  async function sweepOnce(): Promise<Found> {
    const [startedMs, startedWallMs] = [clock.monotonicMs(), clock.wallMs()];
    const found = await sweep();
    [renewedMs, renewedWallMs] = [startedMs, startedWallMs];
    return found;
  }

  return {
    isOver: () => clock.monotonicMs() - renewedMs >= deadAfterMs || clock.wallMs() - renewedWallMs >= deadAfterMs,
    renew() {
      renewing ??= sweepOnce().finally(() => (renewing = null));
      return renewing;
    },
  };
}
