import type { AuditContent } from "./audit-document.ts";

/** `prepared` before the network call; afterwards how the generation ended. */
export const AUDIT_STATUSES = ["prepared", "completed", "failed", "cancelled"] as const;
export type AuditStatus = (typeof AUDIT_STATUSES)[number];

/** Tokens as we counted them and as the provider billed them; `reported` and `driftRatio` are `null` until it says so. */
export interface AuditUsage {
  readonly estimated: { readonly inputTokens: number | null };
  readonly reported: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cacheReadTokens: number | null;
  } | null;
  /** Reported input tokens to estimated ones. */
  readonly driftRatio: number | null;
}

/** What is known of the generation itself, beside what its assembly made. Times are RFC 3339 UTC. */
export interface AuditFacts {
  readonly generationId: string;
  readonly chatId: string;
  readonly attempt: number;
  readonly status: AuditStatus;
  readonly errorCode: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly provider: string;
  readonly model: string;
  readonly usage: AuditUsage;
}

/** One model of the turn; `shared` = it got the same context as target 0. */
export interface AuditTarget
  extends
    Pick<AuditFacts, "provider" | "model" | "usage" | "status" | "errorCode">,
    Pick<AuditContent, "tokenizer" | "providerRequest"> {
  readonly index: number;
  readonly promptTokens: number | null;
  readonly shared: boolean;
}

/** What the model saw, what it did not see, and why. Top-level fields are those of target 0. */
export interface PromptContextAudit extends AuditFacts, AuditContent {
  readonly targets: readonly AuditTarget[];
  /** Set in a view without the content scope. */
  readonly contentRestricted?: true;
}

/** Joins the generation's facts and the assembly's content into the audit. */
export function promptContextAudit(facts: AuditFacts, content: AuditContent): PromptContextAudit {
  const { provider, model, usage, status, errorCode } = facts;
  const { tokenizer, providerRequest, budget } = content;
  const target: AuditTarget = {
    index: 0,
    provider,
    model,
    tokenizer,
    promptTokens: budget.promptTokens,
    providerRequest,
    usage,
    status,
    errorCode,
    shared: true,
  };
  return { ...facts, ...content, targets: [target] };
}
