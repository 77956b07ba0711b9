import { rmSync } from "node:fs";
import { expect, inject, it } from "vitest";
import { FAULT_NAMES } from "./fault-names.ts";
import { possibleFaults } from "./faults.ts";
import { renderReport, violationsIn } from "./report.ts";
import { runChaos } from "./run-chaos.ts";

/** What a run takes here is minutes on a machine that is busy with other tests, half a minute on one that is not. */
const TIMEOUT_MS = 900_000;

it(
  "keeps every published promise while processes and servers die, freeze and come back",
  { timeout: TIMEOUT_MS },
  async () => {
    const queue = inject("redisUrl") === null ? "postgres" : "redis";
    const faults = possibleFaults(FAULT_NAMES, queue);
    const result = await runChaos({ generations: 90, seed: 1, faults, queue, workers: 2, slots: 5 });
    expect(violationsIn(result), renderReport(result)).toEqual([]);
    expect([...result.injected].sort()).toEqual([...faults].sort());
    rmSync(result.logFolder, { recursive: true, force: true });
  },
);
