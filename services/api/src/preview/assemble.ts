import {
  reportAssembly,
  resolveBudget,
  resolveStrategy,
  runStage,
  STAGES,
  startAssembly,
  type Assembly,
  type AssemblyInput,
  type AssemblyReport,
  type AssemblySettings,
  type Strategy,
} from "@shiftwork/pipeline";
import { countAhead, needOf } from "./count-ahead.ts";
import { nextTurn } from "./take-turns.ts";

const SHIFT = STAGES.findIndex(({ name }) => name === "shift");
const TOKENIZE = STAGES.findIndex(({ name }) => name === "tokenize");

/** Reports of one assembly: of the turn itself, and of each what-if, in their order. */
export interface Previews {
  readonly report: AssemblyReport;
  readonly whatIfs: readonly AssemblyReport[];
}

/**
 * Assembles once and shifts as often as there are what-ifs, by the stages a generation runs. Between stages, and within
 * long counts, other requests get their turn. Aborts with the signal.
 */
export async function assemble(
  input: AssemblyInput,
  whatIfs: readonly AssemblySettings[],
  signal: AbortSignal,
): Promise<Previews> {
  const started = startAssembly(input);
  const variants = [started, ...whatIfs.map((settings) => under(started, settings))];
  const demanding = mostDemanding(variants);
  const selected = await through(started, 0, 1, signal);
  await countAhead(selected, demanding, signal);
  const prepared = await through(selected, 1, TOKENIZE, signal);
  const { strategy, budget } = demanding;
  const counted = await through({ ...prepared, strategy, budget }, TOKENIZE, SHIFT, signal);
  const reports: AssemblyReport[] = [];
  for (const variant of variants) {
    const { input: ownInput, strategy: ownStrategy, budget: ownBudget } = variant;
    const own = { ...counted, input: ownInput, strategy: ownStrategy, budget: ownBudget };
    const done = await through(own, SHIFT, STAGES.length, signal);
    await nextTurn();
    reports.push(reportAssembly(done));
  }
  const [report, ...others] = reports;
  if (report === undefined) throw new Error("an assembly has no report");
  return { report, whatIfs: others };
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

async function through(assembly: Assembly, from: number, to: number, signal: AbortSignal): Promise<Assembly> {
  let next = assembly;
  for (const stage of STAGES.slice(from, to)) {
    await nextTurn();
    next = await runStage(stage, next, signal);
  }
  return next;
}

/** The strategy that needs most of the old history, and the largest budget: what is counted for them is enough for all. */
function mostDemanding(variants: readonly Assembly[]): Pick<Assembly, "strategy" | "budget"> {
  const byNeed = variants.map(({ strategy }): Strategy => strategy).sort((a, b) => needOf(b) - needOf(a));
  const byBudget = variants.map(({ budget }) => budget).sort((a, b) => b.budgetTokens - a.budgetTokens);
  const [strategy] = byNeed;
  const [budget] = byBudget;
  if (strategy === undefined || budget === undefined) throw new Error("there is no variant");
  return { strategy, budget };
}
