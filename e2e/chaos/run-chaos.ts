import type { Database } from "@shiftwork/db";
import { CHECKS, type Finding } from "./checks.ts";
import { drive, type Driven } from "./drive.ts";
import { collectEvidence } from "./evidence.ts";
import type { FaultName } from "./fault-names.ts";
import { createFaultSchedule, planFaults } from "./fault-schedule.ts";
import { FAULTS, possibleFaults } from "./faults.ts";
import { startInstallation, type Installation } from "./installation.ts";
import { loadRows, type Rows } from "./load-rows.ts";
import type { ChaosOptions } from "./options.ts";
import { DEADLINE_MS } from "./plan-turn.ts";
import type { ProviderCounts } from "./provider.ts";
import { randomFrom } from "./random.ts";
import { waitUntil } from "./wait.ts";

/** What a run did and found. */
export interface ChaosResult {
  readonly options: ChaosOptions;
  readonly findings: Readonly<Record<string, Finding>>;
  readonly injected: readonly FaultName[];
  readonly driven: Driven;
  readonly rows: Rows;
  readonly provider: ProviderCounts;
  /** From the first turn to the last end, in milliseconds. */
  readonly durationMs: number;
  readonly slowestStartMs: number;
  /** The processes' logs. */
  readonly logFolder: string;
}

/** Stream of a run's random numbers for the faults; the turns take theirs by their number. */
const FAULT_STREAM = -2;
const LATEST_END_MS = DEADLINE_MS + 10_000;

/**
 * Starts a whole installation, lets clients use it while faults are injected, waits until everything must have ended, and
 * holds what the clients saw against the rows. Throws when the suite itself fails, never for a broken promise.
 */
export async function runChaos(options: ChaosOptions, say: (line: string) => void = () => {}): Promise<ChaosResult> {
  const installation = await startInstallation(options);
  try {
    say(`started; logs in ${installation.logFolder}`);
    const startedAt = performance.now();
    const random = randomFrom(options.seed, FAULT_STREAM);
    const planned = planFaults(random, possibleFaults(options.faults, options.queue), options.generations);
    const schedule = createFaultSchedule(planned, (fault) => {
      say(`${seconds(startedAt)} ${fault}`);
      return FAULTS[fault](installation, random);
    });
    const { apiUrls, apiKeys } = installation;
    const driven = await drive({ options, apiUrls, apiKeys, schedule });
    await schedule.settled();
    await waitUntil("everything has ended", () => nothingActive(installation.database), LATEST_END_MS).catch(() => {});
    return await examine(installation, options, driven, schedule.injected, performance.now() - startedAt);
  } finally {
    await installation.stop();
  }
}

async function examine(
  { database, deaths, provider, logFolder, apis, workers }: Installation,
  options: ChaosOptions,
  driven: Driven,
  injected: readonly FaultName[],
  durationMs: number,
): Promise<ChaosResult> {
  const rows = await loadRows(database);
  const slowestStartMs = Math.max(...[...apis, ...workers].map((service) => service.slowestStartMs));
  const evidence = collectEvidence(driven, rows, { ...options, injected, deaths });
  const findings = Object.fromEntries(Object.entries(CHECKS).map(([name, check]) => [name, check(evidence)]));
  const counts = await provider.counts();
  return { options, findings, injected, driven, rows, provider: counts, durationMs, slowestStartMs, logFolder };
}

async function nothingActive({ client }: Database): Promise<boolean> {
  return (await client`select from generations where status in ('queued', 'running') limit 1`).length === 0;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1).padStart(6)} s`;
}
