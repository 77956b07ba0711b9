import { performance } from "node:perf_hooks";
import { problem } from "@shiftwork/contracts";
import { RunFailed } from "./outcome.ts";
import type { Run, RunDependencies } from "./run-state.ts";

export interface Step {
  readonly name: string;
  /** Null = bounded otherwise: by the timeouts of what is called, and the generation's deadline. */
  readonly deadlineMs: number | null;
  readonly run: (run: Run, deps: RunDependencies) => Promise<void>;
}

/** Takes the steps in order, each within its own deadline; throws what stopped one. */
export async function takeSteps(steps: readonly Step[], run: Run, deps: RunDependencies): Promise<void> {
  for (const step of steps) {
    run.active.signal.throwIfAborted();
    const startedAt = performance.now();
    await withinDeadline(step, step.run(run, deps));
    run.log.debug({ step: step.name, durationMs: Math.round(performance.now() - startedAt) }, "step done");
  }
}

async function withinDeadline(step: Step, work: Promise<void>): Promise<void> {
  if (step.deadlineMs === null) return work;
  const { deadlineMs, name } = step;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RunFailed(problem("INTERNAL", `The step ${name} took longer than ${deadlineMs} ms.`))),
      deadlineMs,
    );
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** What an earlier step must have filled in. */
export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("a step ran before the one it builds on");
  return value;
}
