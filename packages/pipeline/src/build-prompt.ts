import { startAssembly, type Assembly, type AssemblyInput } from "./assembly.ts";
import * as steps from "./assembly-steps.ts";
import { reportAssembly } from "./audit/report.ts";
import type { StageName } from "./block.ts";
import type { AssemblyReport } from "./prompt.ts";

/** One step of the assembly; the worker runs the same entries that `buildPrompt` folds. */
export interface Stage {
  readonly name: StageName;
  /** How long the host lets the stage run before it aborts it, in milliseconds. */
  readonly deadlineMs: number;
  run(assembly: Assembly, signal: AbortSignal): Assembly | Promise<Assembly>;
}

/** The stages in order. This is the only list. */
export const STAGES: readonly Stage[] = [
  { name: "select", deadlineMs: 5_000, run: steps.runSelect },
  { name: "persona", deadlineMs: 2_000, run: steps.runPersona },
  { name: "lorebook", deadlineMs: 10_000, run: steps.runLorebook },
  { name: "memory", deadlineMs: 10_000, run: steps.runMemory },
  { name: "template", deadlineMs: 2_000, run: steps.runTemplate },
  { name: "tokenize", deadlineMs: 20_000, run: steps.runTokenize },
  // A model may have to write a summary first, for which it has 30 seconds.
  { name: "shift", deadlineMs: 45_000, run: steps.runShift },
  { name: "intercept", deadlineMs: 20_000, run: steps.runIntercept },
  { name: "recount", deadlineMs: 10_000, run: (assembly) => steps.runRecount(assembly) },
  { name: "serialize", deadlineMs: 5_000, run: steps.runSerialize },
  { name: "verify", deadlineMs: 20_000, run: steps.runVerify },
];

/**
 * A conversation in, a prompt out: all stages in order. Throws `AssemblyInputError` for settings that cannot work, and
 * the signal's reason after an abort; a prompt that cannot fit is a report with `error` set, not an exception.
 */
export async function buildPrompt(input: AssemblyInput, signal: AbortSignal): Promise<AssemblyReport> {
  let assembly = startAssembly(input);
  for (const stage of STAGES) assembly = await runStage(stage, assembly, signal);
  return reportAssembly(assembly);
}

/** Runs one stage and records its time, blocks and tokens. Does nothing once the assembly has an error. */
export async function runStage(stage: Stage, assembly: Assembly, signal: AbortSignal): Promise<Assembly> {
  if (assembly.error !== null) return assembly;
  signal.throwIfAborted();
  const { clock } = assembly.input;
  const startedAt = clock.now();
  const next = await stage.run(assembly, signal);
  const report = {
    name: stage.name,
    ms: clock.now() - startedAt,
    blocksIn: assembly.blocks.length,
    blocksOut: next.blocks.length,
    tokensIn: totalTokens(assembly),
    tokensOut: totalTokens(next),
  };
  return { ...next, stages: [...assembly.stages, report] };
}

// Blocks without a count are too old to be sent; the sum is of what was counted, `null` before anything was.
function totalTokens({ blocks, overheadTokens }: Assembly): number | null {
  if (blocks.every((block) => block.tokens === null)) return null;
  return blocks.reduce((sum, block) => sum + (block.tokens ?? 0), overheadTokens);
}
