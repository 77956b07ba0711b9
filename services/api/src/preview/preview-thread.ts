// Thread that makes previews, so that a long chat holds up no stream. Started by `previews-in-thread.ts`.
import { openDatabase } from "@shiftwork/db";
import { loadPlugins } from "@shiftwork/platform";
import { parentPort, workerData } from "node:worker_threads";
import type { HttpProblem } from "../errors.ts";
import { translateError } from "../plugins/translate-error.ts";
import { previewsHere, type PreviewRequest } from "./previewer.ts";

export interface PreviewThreadData {
  readonly databaseUrl: string;
  readonly plugins: readonly string[];
  /** Opens the secrets of providers that write summaries. `null` = previews call no model. */
  readonly masterKey: Uint8Array | null;
}

export type PreviewTask =
  | { readonly type: "preview"; readonly id: number; readonly request: PreviewRequest }
  | { readonly type: "abort"; readonly id: number };

/** `problem`: what to answer. `error`: nobody foresaw it; the request fails and it is logged. */
export type PreviewOutcome =
  | { readonly id: number; readonly type: "done"; readonly json: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly type: "problem"; readonly problem: PlainProblem }
  | { readonly id: number; readonly type: "error"; readonly error: unknown };

/** An `HttpProblem` as it can be sent between threads. */
export type PlainProblem = Pick<HttpProblem, "code" | "message" | "params" | "errors" | "retryAfterSeconds">;

const port = parentPort;
if (port === null) throw new Error("this file is the thread of previews");
const { databaseUrl, plugins, masterKey } = workerData as PreviewThreadData;
const { db } = openDatabase({
  url: databaseUrl,
  role: "shiftwork_api",
  maxConnections: 1,
  applicationName: "shiftwork-api-preview",
});
const loaded = await loadPlugins(plugins);
await loaded.warmUp();
const previewer = previewsHere({ db, plugins: loaded, masterKey });
const wanted = new Map<number, AbortController>();

port.on("message", (task: PreviewTask) => {
  if (task.type === "abort") wanted.get(task.id)?.abort();
  else void work(task.id, task.request);
});

async function work(id: number, request: PreviewRequest): Promise<void> {
  const controller = new AbortController();
  wanted.set(id, controller);
  const outcome = await outcomeOf(id, request, controller.signal);
  wanted.delete(id);
  port?.postMessage(outcome, outcome.type === "done" ? [outcome.json.buffer] : []);
}

async function outcomeOf(id: number, request: PreviewRequest, signal: AbortSignal): Promise<PreviewOutcome> {
  try {
    const json = await previewer.preview(request, signal);
    return { id, type: "done", json: new Uint8Array(json) };
  } catch (error) {
    const known = translateError(error);
    if (known.code === "INTERNAL") return { id, type: "error", error };
    const { code, message, params, errors, retryAfterSeconds } = known;
    return { id, type: "problem", problem: { code, message, params, errors, retryAfterSeconds } };
  }
}
