import { TokenizerError } from "@shiftwork/pipeline";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { TokenizerOutcome, TokenizerTask } from "./tokenizer-thread.ts";

/** What a file may take while it is read: JSON can be made to need a hundred times its length. */
const MOST_MEGABYTES = 1_024;
/** Many times what the largest file takes. */
const END_AFTER_MS = 60_000;

/**
 * Has a thread of its own do one task, and end. Throws `TokenizerError` for a file that is refused, and rejects when the
 * thread does not come to an end.
 */
export async function runInThread<Task extends TokenizerTask>(task: Task): Promise<OutcomeOf<Task>> {
  // Built files import built files, whatever this process was told to import.
  const thread = new Worker(threadFile(), {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
  try {
    const [outcome] = (await once(thread, "message", { signal: AbortSignal.timeout(END_AFTER_MS) })) as [
      TokenizerOutcome,
    ];
    if (outcome.type === "refused") throw new TokenizerError(outcome.pointer, outcome.problem);
    return outcome as OutcomeOf<Task>;
  } catch (error) {
    if (isOutOfMemory(error)) throw new TokenizerError("", "takes more memory to read than there is for it");
    throw error;
  } finally {
    await thread.terminate();
  }
}

interface Outcomes {
  readonly check: "checked";
  readonly compile: "compiled";
  readonly count: "counted";
}
type OutcomeOf<Task extends TokenizerTask> = Extract<TokenizerOutcome, { readonly type: Outcomes[Task["type"]] }>;

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** The built file, also when this runs from source: `../..` is the package from `src/tokenizers` and `dist/tokenizers`. */
function threadFile(): string {
  return fileURLToPath(new URL("../../dist/tokenizers/tokenizer-thread.js", import.meta.url));
}
