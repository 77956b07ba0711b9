import type { CountedBlock, Role } from "../block.ts";
import type { ProviderRequest, TextSpan, WireFacts } from "../prompt.ts";
import type { AssemblySettings } from "../settings.ts";
import type { Counter } from "../tokens/counter.ts";
import type { WireBlock, WireRepair } from "./openai-chat.ts";
import type { Speakers } from "./speakers.ts";

/** What a wire shape is made for: one assembly's settings and the names of its speakers. */
export interface WireContext {
  readonly settings: Pick<AssemblySettings, "action" | "model" | "parameters" | "tools" | "wire" | "postProcessing">;
  readonly speakers: Speakers;
}

/** A part of the request and the block that put it there; `blockId: null` = the host's own (placeholder, opened reply). */
export interface Segment {
  readonly blockId: string | null;
  /** As sent; in text mode the block's. */
  readonly role: Role;
  readonly at: TextSpan;
}

/** A change on the way to the wire; `blockId: null` = of the request as a whole. */
export interface Repaired {
  readonly repair: WireRepair;
  readonly blockId: string | null;
  /** What was left out of the request, where that is no block. */
  readonly text?: string;
}

/** A request with the parts it is made of. */
export interface Written {
  readonly request: ProviderRequest;
  /** In sent order, together all of the text; `null` = block i is message i. */
  readonly segments: readonly Segment[] | null;
  readonly repaired: readonly Repaired[];
}

/** One provider's shape of request, for one assembly. */
export interface Wire {
  readonly facts: WireFacts;
  /** What a block costs wherever it will stand: exact where blocks are messages, else an upper bound. */
  readonly countBlock: (counter: Counter, block: WireBlock) => number;
  /** Cost of what no block brings: priming, tool schemas, structured parameters, placeholder, the reply's opening. */
  readonly countOverhead: (counter: Counter) => number;
  /** The blocks in the order they are sent. Returns `blocks` itself when nothing has to move. */
  readonly arrange: (blocks: readonly CountedBlock[]) => readonly CountedBlock[];
  /** Arranged blocks → the request, complete. */
  readonly write: (blocks: readonly CountedBlock[], maxTokens: number) => Written;
  /** What a provider would refuse in the request; empty = nothing. */
  readonly validate: (request: ProviderRequest) => readonly string[];
}
