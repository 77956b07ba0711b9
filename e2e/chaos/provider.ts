import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The provider of a run, in a process of its own so that no fault of ours slows it down. */
export interface ChaosProvider {
  readonly baseUrl: string;
  counts(): Promise<ProviderCounts>;
  stop(): Promise<void>;
}

export interface ProviderCounts {
  readonly callsByScenario: Readonly<Record<string, number>>;
  /** Connections that were closed before their reply was complete: cancels, deadlines, lost workers. */
  readonly closedByClient: number;
}

export async function startProvider(): Promise<ChaosProvider> {
  const child = fork(fileURLToPath(new URL("./provider.mjs", import.meta.url)), { execArgv: [] });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      child.once("message", resolve as (message: unknown) => void);
      child.once("exit", (code) => reject(new Error(`the provider ended with ${code}`)));
    });
  const { baseUrl } = await next<{ readonly baseUrl: string }>();
  return {
    baseUrl,
    counts: () => {
      const answer = next<ProviderCounts>();
      child.send("counts");
      return answer;
    },
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit");
        child.once("exit", () => resolve());
        child.disconnect();
      }),
  };
}
