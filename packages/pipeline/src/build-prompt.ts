import type { StageName } from "./block.ts";
import type { Conversation } from "./conversation.ts";
import type { AssemblyReport, Interceptor } from "./prompt.ts";
import type { AssemblySettings } from "./settings.ts";

/** Clock for stage timings only; what a prompt says about time comes from `settings.now`. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
}

export interface AssemblyInput {
  readonly conversation: Conversation;
  readonly settings: AssemblySettings;
  readonly interceptors: readonly Interceptor[];
  readonly clock: Clock;
}

/** One step of the assembly; the worker runs the same entries that `buildPrompt` folds. */
export interface Stage {
  readonly name: StageName;
  readonly deadlineMs: number;
  run(assembly: Assembly, signal: AbortSignal): Assembly | Promise<Assembly>;
}
export interface Assembly {
  readonly input: AssemblyInput;
}
export declare const STAGES: readonly Stage[];
/** Throws `AssemblyInputError` when settings cannot be worked with. */
export declare function startAssembly(input: AssemblyInput): Assembly;
export declare function runStage(stage: Stage, assembly: Assembly, signal: AbortSignal): Promise<Assembly>;
export declare function reportAssembly(assembly: Assembly): AssemblyReport;
export declare function buildPrompt(input: AssemblyInput, signal: AbortSignal): Promise<AssemblyReport>;
