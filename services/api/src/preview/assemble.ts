import {
  reportAssembly,
  resolveBudget,
  resolveStrategy,
  runStage,
  STAGES,
  startAssembly,
  STRATEGIES,
  type Assembly,
  type AssemblyInput,
  type AssemblyReport,
  type AssemblySettings,
  type Strategy,
} from "@shiftwork/pipeline";
import { setImmediate } from "node:timers/promises";

const TOKENIZE = STAGES.findIndex(({ name }) => name === "tokenize");
const SHIFT = STAGES.findIndex(({ name }) => name === "shift");

/** Reports of one assembly: of the turn itself, and of each what-if, in their order. */
export interface Previews {
  readonly report: AssemblyReport;
  readonly whatIfs: readonly AssemblyReport[];
}

/** Assembles once and shifts as often as there are what-ifs, by the stages a generation runs. Aborts with the signal. */
export async function assemble(
  input: AssemblyInput,
  whatIfs: readonly AssemblySettings[],
  signal: AbortSignal,
): Promise<Previews> {
  const started = startAssembly(input);
  const variants = whatIfs.map((settings) => under(started, settings));
  const prepared = await through(started, 0, TOKENIZE, signal);
  const counted = await through({ ...prepared, ...mostDemanding([started, ...variants]) }, TOKENIZE, SHIFT, signal);
  const report = await shifted(counted, started, signal);
  const reports: AssemblyReport[] = [];
  for (const variant of variants) reports.push(await shifted(counted, variant, signal));
  return { report, whatIfs: reports };
}

function under(assembly: Assembly, settings: AssemblySettings): Assembly {
  const { counter, input } = assembly;
  return {
    ...assembly,
    input: { ...input, settings },
    strategy: resolveStrategy(settings.contextStrategy, settings.strategyOptions, input.strategies),
    budget: resolveBudget(settings, counter.profile),
  };
}

/** The counted blocks, fitted as the variant says. */
async function shifted(counted: Assembly, variant: Assembly, signal: AbortSignal): Promise<AssemblyReport> {
  const { input, strategy, budget } = variant;
  return reportAssembly(await through({ ...counted, input, strategy, budget }, SHIFT, STAGES.length, signal));
}

async function through(assembly: Assembly, from: number, to: number, signal: AbortSignal): Promise<Assembly> {
  let next = assembly;
  for (const stage of STAGES.slice(from, to)) {
    // An abort can only come in between.
    await setImmediate();
    next = await runStage(stage, next, signal);
  }
  return next;
}

/** The strategy that needs most of the old history, and the largest budget: what is counted for them is enough for all. */
function mostDemanding(variants: readonly Assembly[]): Partial<Pick<Assembly, "strategy" | "budget">> {
  const [needs] = [...variants].sort((a, b) => needOf(b.strategy) - needOf(a.strategy));
  const [room] = [...variants].sort((a, b) => b.budget.budgetTokens - a.budget.budgetTokens);
  return { ...(needs && { strategy: needs.strategy }), ...(room && { budget: room.budget }) };
}

/** How much of the old history is counted for a strategy: 2 = all of it, 1 = more than fits, 0 = what fits. */
function needOf(strategy: Strategy): 0 | 1 | 2 {
  const own = Object.values(STRATEGIES).find((each) => each === strategy);
  if (own === undefined || own.oldHistory === "counted") return 2;
  return own === STRATEGIES.manual ? 1 : 0;
}
