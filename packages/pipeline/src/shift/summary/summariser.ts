import type { WireSettings } from "../../settings.ts";

/** Writes one summary. `prompt` is the whole text of one user message; resolves with the model's reply. */
export type Summarise = (
  prompt: string,
  options: { readonly maxTokens: number; readonly signal: AbortSignal },
) => Promise<string>;

/** The model that writes summaries, as the host hands it in. */
export interface Summariser {
  /** Names provider and model; part of `sourceHash`. */
  readonly id: string;
  /** The model's own window in tokens; a longer source is folded in parts. `null` = that of the generation. */
  readonly contextLimit: number | null;
  /**
   * The model and the shape of its requests (`singleTurnRequest`), by which its prompts are counted. Absent = not known:
   * they are counted as the turn is, and a twentieth of the window is kept free for the difference.
   */
  readonly request?: { readonly model: string; readonly wire: WireSettings } | undefined;
  /** `null` = no model may be called: a needed summary is then a placeholder of its cap, and the prompt is not exact. */
  readonly summarise: Summarise | null;
  /** The summary a former attempt was given; used again while its source is the same. */
  readonly stored?: { readonly sourceHash: string; readonly text: string } | null | undefined;
  /** How long all calls for one summary may take together, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** A summary that stands in the prompt. The host may store text and hash, and hand them in again as `stored`. */
export interface SummaryFacts {
  /** SHA-256 over summariser and source, hex; `null` for one that no model wrote. */
  readonly sourceHash: string | null;
  /** Its text without the wrapping, as it may be stored. */
  readonly text: string;
  /** Ids of the messages it stands for. */
  readonly covers: readonly string[];
  /** Calls that were made for it; 0 = extractive, stored or a placeholder. */
  readonly calls: number;
  /** `false` = a placeholder: what will be sent is not known yet. */
  readonly exact: boolean;
}
