import type { ChaosResult } from "./run-chaos.ts";

/** Violations shown of each check. */
const SHOWN = 5;

/** Whether any promise was broken. */
export function violationsIn({ findings }: ChaosResult): readonly string[] {
  return Object.entries(findings).flatMap(([name, { violations }]) =>
    violations.map((violation) => `${name}: ${violation}`),
  );
}

/** The run as text: the promises, what was done, and how fast it went. */
export function renderReport(result: ChaosResult): string {
  const { findings, injected, driven, rows, provider, durationMs, options, logFolder } = result;
  const checks = Object.entries(findings).map(
    ([name, { checked, violations }]) => [name, String(checked), String(violations.length)] as const,
  );
  const broken = Object.entries(findings).flatMap(([name, { violations }]) =>
    violations.slice(0, SHOWN).map((violation) => `  ${name}: ${violation}`),
  );
  const { generations } = rows;
  const seconds = durationMs / 1_000;
  const told = driven.followed.filter(({ cancel }) => cancel === "accepted").length;
  const cancelMs = generations.flatMap((row) => row.cancelMs ?? []);
  return [
    table([["guarantee", "checked", "violations"], ...checks]),
    ...(broken.length === 0 ? [] : ["", "violations", ...broken, `  logs: ${logFolder}`]),
    "",
    `queue ${options.queue}, seed ${options.seed}, onBusy ${driven.knowsOnBusy ? "used" : "not offered"}`,
    `${generations.length} generations in ${seconds.toFixed(1)} s, ${(generations.length / seconds).toFixed(1)} a second`,
    `slowest start   ${(result.slowestStartMs / 1_000).toFixed(1)} s`,
    `status          ${counts(countOf(generations.map(({ status }) => status)))}`,
    `errors          ${counts(countOf(generations.flatMap(({ errorCode }) => errorCode ?? [])))}`,
    `attempts        ${counts(countOf(generations.map(({ attempts }) => String(attempts))))}`,
    `cancels         ${told} accepted; end after p50 ${percentile(cancelMs, 50)}, p99 ${percentile(cancelMs, 99)} ms`,
    `faults          ${counts(countOf(injected))}`,
    `provider        ${counts(provider.callsByScenario)}; ${provider.closedByClient} closed by us`,
    ...waits(result),
  ].join("\n");
}

/** G6 is measured by its own benchmark: here faults delay everybody. */
function waits({ rows }: ChaosResult): readonly string[] {
  const noisy = busiestTenant(rows);
  const of = (wanted: boolean): string => {
    const ms = rows.generations.flatMap((row) => ((row.tenantId === noisy) === wanted ? (row.waitMs ?? []) : []));
    return `p50 ${percentile(ms, 50)}, p95 ${percentile(ms, 95)} ms`;
  };
  return [`wait, noisy     ${of(true)}`, `wait, light     ${of(false)} (G6, reported only)`];
}

function busiestTenant({ generations }: ChaosResult["rows"]): string | undefined {
  const sizes = Object.entries(countOf(generations.map(({ tenantId }) => tenantId)));
  return sizes.sort((a, b) => b[1] - a[1])[0]?.[0];
}

function countOf(names: readonly string[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const name of names) totals[name] = (totals[name] ?? 0) + 1;
  return totals;
}

function counts(totals: Readonly<Record<string, number>>): string {
  const entries = Object.entries(totals).sort((a, b) => b[1] - a[1]);
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${name} ${count}`).join(", ");
}

function percentile(values: readonly number[], percent: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))];
  return value === undefined ? "–" : value.toFixed(0);
}

function table(lines: readonly (readonly [string, string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines
    .map(([name, checked, count]) => `${name.padEnd(width)}  ${checked.padStart(8)}  ${count.padStart(10)}`)
    .join("\n");
}
