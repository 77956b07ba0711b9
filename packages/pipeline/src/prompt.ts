import type { Block, BlockSource, Role, StageName, ToolCall } from "./block.ts";
import type { TokenBudgetExceeded } from "./errors.ts";
import type { SummaryFacts } from "./shift/summary/summariser.ts";
import type { Diagnostic, ExcludedReason, IncludedReason, ReasonDetail } from "./reasons.ts";
import type { PostProcessing, WireSettings } from "./settings.ts";
import type { Calibration } from "./tokens/calibration.ts";

/** What a stage did: blocks and tokens going in and coming out (`tokens` is `null` before anything is counted). */
export interface StageReport {
  readonly name: StageName;
  readonly ms: number;
  readonly blocksIn: number;
  readonly blocksOut: number;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
}

export interface BudgetReport {
  readonly contextLimit: number;
  readonly reservedForReply: number;
  /** 0 for exact profiles, 5 % of the window for approximate ones. */
  readonly margin: number;
  /** contextLimit − reservedForReply − margin. */
  readonly budgetTokens: number;
  /** Counted on the serialised payload; `null` when nothing was serialised. */
  readonly promptTokens: number | null;
  /** Priming and tool schemas. */
  readonly overheadTokens: number;
  readonly caps: { readonly lorebook: number; readonly memory: number };
}

export interface ShiftStep {
  readonly step: number;
  readonly action: "drop" | "truncate" | "summarize" | "restore";
  readonly blockIds: readonly string[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Where a block's text stands in the request, in UTF-16 units from `from` up to, not including, `to`. */
export interface TextSpan {
  /** Index of the message whose content it is part of; `null` = part of the prompt string. */
  readonly message: number | null;
  readonly from: number;
  readonly to: number;
}

/** A row of the audit: included blocks in sent order (`order` 0, 1, …), then the left-out ones. */
export interface AuditBlock {
  readonly order: number | null;
  readonly id: string;
  readonly source: BlockSource;
  readonly label: string;
  readonly name: string | null;
  readonly role: Role;
  readonly refId: string | null;
  readonly seq: number | null;
  readonly tokens: number | null;
  readonly tokensUpperBound?: number;
  readonly originalTokens: number | null;
  readonly included: boolean;
  readonly protected: boolean;
  readonly pinned: boolean;
  readonly relevance: number | null;
  readonly groupId: string | null;
  readonly reason: IncludedReason | ExcludedReason;
  readonly reasonDetail: ReasonDetail | null;
  readonly stage: StageName;
  /**
   * Where the text stands, when a block is not a message of its own (text mode, merged messages); `role` is then the
   * message's, and `content` is all that the block put there: sequences, names and joints included.
   */
  readonly sentAt?: TextSpan;
  /** Text of the block. Absent for `overhead`, and in documents at rest for included blocks (it stands in the request). */
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
}

/** More than 200 contiguous left-out history messages with one reason, or any that were too old to load, as one row. */
export interface AuditRange {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly count: number;
  readonly tokens: number | null;
  readonly reason: ExcludedReason;
}

export interface AuditCounts {
  readonly included: number;
  readonly excluded: number;
  readonly summarised: number;
  readonly truncated: number;
}

/** An OpenAI chat-completions message. Absent fields are absent, never `null`, but for `content` beside `tool_calls`. */
export interface ChatRequestMessage {
  readonly role: Role;
  readonly content: string | null;
  readonly name?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** The body of `POST /chat/completions`, as it is sent and as it is counted. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatRequestMessage[];
  readonly max_tokens: number;
  readonly [parameter: string]: unknown;
}

/** The body of `POST /completions`, as it is sent and as it is counted. */
export interface TextRequest {
  readonly model: string;
  /** Every turn rendered with the format's sequences, then the opening of the reply. */
  readonly prompt: string;
  readonly max_tokens: number;
  readonly stop: readonly string[];
  readonly [parameter: string]: unknown;
}

/** The body of a provider request; `wire` in the settings decides which. */
export type ProviderRequest = ChatRequest | TextRequest;

/** One entry of what a model read, for display: a message, or in text mode the whole prompt. */
export type ProviderMessage = ChatRequestMessage | { readonly prompt: string };

/** What counted an assembly, as the audit names it. */
export interface TokenizerFacts {
  /** Id of the profile. */
  readonly profile: string;
  readonly approximate: boolean;
  /** What its estimates were multiplied by; absent = nothing. */
  readonly calibration?: Calibration | undefined;
}

/** How blocks became a request, as the audit names it. */
export interface WireFacts {
  readonly shape: WireSettings["shape"];
  /** The instruct format; `null` in chat completions. */
  readonly format: string | null;
  /** `none` in text mode, which renders every turn by itself. */
  readonly postProcessing: PostProcessing;
}

/** The outcome of one assembly. `error` set = no request may leave; everything assembled so far is still listed. */
export interface AssemblyReport {
  readonly request: ProviderRequest | null;
  readonly error: TokenBudgetExceeded | null;
  readonly strategy: string;
  readonly wire: WireFacts;
  readonly tokenizer: TokenizerFacts;
  readonly budget: BudgetReport;
  readonly blocks: readonly AuditBlock[];
  readonly ranges: readonly AuditRange[];
  readonly counts: AuditCounts;
  readonly shiftSteps: readonly ShiftStep[];
  readonly stages: readonly StageReport[];
  readonly diagnostics: readonly Diagnostic[];
  /** The summary that stands for earlier history; `null` = none. */
  readonly summary: SummaryFacts | null;
  /** The oldest unprotected history message that was kept, by its message id: the cut that `lowWater` keeps still. */
  readonly anchorId: string | null;
  /** `false` = a summary is a placeholder, so the request that will be sent is not known yet. */
  readonly exact: boolean;
  /** SHA-256 over request, budget, profile and strategy, hex; `null` without a request, or when it is not exact. */
  readonly assemblyHash: string | null;
  /** SHA-256 over the messages before the first history message, hex; equal hashes share a provider prompt cache. */
  readonly prefixHash: string | null;
}

/**
 * A plugin between `shift` and `recount`. The host takes back what it must not touch. Only what it awaits can be bounded in
 * here: a host that loads one of third parties registers a stand-in that asks a thread, as for a `Strategy`.
 */
export interface Interceptor {
  readonly id: string;
  readonly priority: number;
  intercept(blocks: readonly Block[], signal: AbortSignal): readonly Block[] | Promise<readonly Block[]>;
}
