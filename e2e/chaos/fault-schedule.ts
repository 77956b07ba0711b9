import type { FaultName } from "./fault-names.ts";
import type { Random } from "./random.ts";

/** Injects each fault when the turns have come so far, one fault at a time, while the turns go on. */
export interface FaultSchedule {
  /** Told of every turn before it is sent; waits while faults that were due before it have not been injected. */
  reached(turn: number): Promise<void>;
  /** Resolves when everything that was begun is over. Rejects with the first error of an injection. */
  settled(): Promise<void>;
  readonly injected: readonly FaultName[];
}

interface PlannedFault {
  readonly fault: FaultName;
  readonly atTurn: number;
}

/** One round through all faults for so many turns. */
const TURNS_PER_ROUND = 600;

/** Rounds through the faults in random order, spread evenly over the turns with some jitter. */
export function planFaults(random: Random, faults: readonly FaultName[], turns: number): readonly PlannedFault[] {
  const rounds = Math.max(1, Math.round(turns / TURNS_PER_ROUND));
  const order = Array.from({ length: rounds }, () => random.shuffled(faults)).flat();
  const apart = turns / (order.length + 1);
  return order.map((fault, index) => ({ fault, atTurn: Math.ceil((index + 0.5 + random.next() * 0.5) * apart) }));
}

export function createFaultSchedule(
  planned: readonly PlannedFault[],
  inject: (fault: FaultName) => Promise<void>,
): FaultSchedule {
  const injected: FaultName[] = [];
  const due = [...planned];
  let last = Promise.resolve();
  return {
    injected,
    async reached(turn) {
      const before = last;
      for (let first = due[0]; first !== undefined && first.atTurn <= turn; first = due[0]) {
        due.shift();
        const { fault } = first;
        last = last.then(async () => {
          injected.push(fault);
          await inject(fault);
        });
        last.catch(() => undefined);
        // The newest may run beside the turns; those before it have to be over.
        await before.catch(() => undefined);
      }
    },
    settled: () => last,
  };
}
