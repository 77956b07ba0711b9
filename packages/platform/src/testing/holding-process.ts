import { startLineProcess, type LineProcess } from "./line-process.ts";

export interface HoldingOptions {
  readonly name: string;
  readonly url: string;
  readonly lockDurationMs: number;
}

/** A consumer in its own process that holds its job until the signal: says `started <id>`, `aborted <id>: <reason>`. */
export function startHoldingProcess(options: HoldingOptions): LineProcess {
  return startLineProcess("./holding-consumer.mjs", options);
}
