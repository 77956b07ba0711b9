import type { CreateContextPreview } from "@shiftwork/contracts";
import { createUseLite, createVectorCache } from "@shiftwork/providers";
import { createTokenizers } from "@shiftwork/platform";
import type { Caller } from "../auth/caller.ts";
import { previewObject } from "./preview-object.ts";
import { previewTurn, type PreviewHost } from "./preview-turn.ts";

export interface PreviewRequest {
  readonly caller: Caller;
  readonly body: CreateContextPreview;
}

/** Makes previews. Whatever goes wrong is thrown as a handler would throw it; aborts with the signal. */
export interface Previewer {
  /** The answer's body, `ContextPreview` as JSON in UTF-8. */
  preview(request: PreviewRequest, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Makes previews in the calling thread, which stands still for as long as a stage takes. */
export function previewsHere(host: Omit<PreviewHost, "caller" | "vectors" | "tokenizers">): Previewer {
  const useLite = createUseLite();
  const vectors = { useLite, cache: createVectorCache() };
  const tokenizers = createTokenizers();
  return {
    async preview({ caller, body }, signal) {
      const preview = await previewTurn({ ...host, vectors, tokenizers, caller }, body, signal);
      return new TextEncoder().encode(JSON.stringify(previewObject(preview, body.include)));
    },
    close: () => useLite.close(),
  };
}
