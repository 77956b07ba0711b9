import { parseArgs } from "node:util";
import { FAULT_NAMES, isFaultName, type FaultName } from "./fault-names.ts";

/** One run of the chaos suite: the same options give the same turns, scenarios and faults in the same order. */
export interface ChaosOptions {
  /** Turns sent; retries of ended ones and turns sent beside a busy one come on top. */
  readonly generations: number;
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly queue: "redis" | "postgres";
  readonly workers: number;
  /** Generations each worker runs at once. */
  readonly slots: number;
}

export const USAGE = `npm run chaos -- [options]

  --generations N    turns to send; default 1000
  --seed S           whole number; the same seed injects the same faults; default 1
  --faults LIST      all, none, or names separated by commas; default all
  --queue KIND       redis or postgres; default redis
  --workers W        worker processes; default 3
  --slots K          generations each runs at once; default 8

Faults: ${FAULT_NAMES.join(", ")}
`;

/**
 * Reads the command line.
 * @throws Error that names the option and what it takes.
 */
export function readOptions(args: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      generations: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      faults: { type: "string", default: "all" },
      queue: { type: "string", default: "redis" },
      workers: { type: "string", default: "3" },
      slots: { type: "string", default: "8" },
    },
  });
  const { queue } = values;
  if (queue !== "redis" && queue !== "postgres") throw new Error("--queue is redis or postgres");
  return {
    generations: wholeNumber("generations", values.generations, 1, 1_000_000),
    seed: wholeNumber("seed", values.seed, 0, 2 ** 31),
    faults: faultsOf(values.faults),
    queue,
    workers: wholeNumber("workers", values.workers, 1, 32),
    slots: wholeNumber("slots", values.slots, 1, 1_000),
  };
}

function faultsOf(text: string): readonly FaultName[] {
  if (text === "all") return FAULT_NAMES;
  if (text === "none") return [];
  return text.split(",").map((name) => {
    if (!isFaultName(name)) throw new Error(`--faults knows ${FAULT_NAMES.join(", ")}; not ${name}`);
    return name;
  });
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} is a whole number from ${least} to ${most}, not ${text}`);
}
