/** Why a block is in the prompt. Closed and append-only; clients must accept values they do not know. */
export const INCLUDED_REASONS = [
  "required",
  "system",
  "character",
  "persona",
  "pinned",
  "current_input",
  "history",
  "overhead",
  "lore_constant",
  "lore_key_match",
  "lore_secondary_match",
  "lore_recursion",
  "lore_sticky",
  "lore_forced",
  "lore_vector_match",
  "memory_relevant",
  "memory_pinned",
  "template",
  "example",
  "kept",
  "restored_by_host",
  "summary",
  "truncated",
  "plugin_added",
] as const;
export type IncludedReason = (typeof INCLUDED_REASONS)[number];

/** Why a considered block is not in the prompt. Closed and append-only. */
export const EXCLUDED_REASONS = [
  "hidden",
  "empty",
  "disabled",
  "model_mismatch",
  "trigger_mismatch",
  "orphan_tool_call",
  "orphan_tool_result",
  "incomplete_tool_call",
  "lore_no_key_match",
  "lore_no_keys",
  "lore_secondary_unmet",
  "lore_outside_scan_depth",
  "lore_probability_failed",
  "lore_cooldown",
  "lore_delay",
  "lore_delay_until_recursion",
  "lore_recursion_excluded",
  "lore_group_lost",
  "lore_character_filter",
  "lore_tag_filter",
  "lore_budget_exceeded",
  "lore_recursion_limit",
  "lore_decorator_unmet",
  "regex_rejected",
  "regex_timeout",
  "memory_below_threshold",
  "memory_top_k",
  "memory_duplicate",
  "memory_budget_exceeded",
  "memory_source_in_prompt",
  "position_slot_missing",
  "template_disabled",
  "shift_oldest",
  "shift_low_relevance",
  "shift_example",
  "shift_call_group",
  "manual_excluded",
  "summarized",
  "final_shift",
  "plugin_removed",
  "strategy_dropped",
] as const;
export type ExcludedReason = (typeof EXCLUDED_REASONS)[number];

/** Something a stage noticed or repaired. Closed and append-only. */
export const DIAGNOSTIC_CODES = [
  "summary_not_smaller",
  "summary_failed",
  "summary_timeout",
  "summary_empty",
  "strategy_rejected",
  "strategy_failed",
  "strategy_timeout",
  "plugin_added",
  "plugin_removed",
  "plugin_edited",
  "plugin_failed",
  "plugin_timeout",
  "host_restored",
  "wire_repair",
  "vectors_missing",
  // Only in stored audits: of texts that were counted in slices. Every text is counted whole.
  "count_approximate",
  "summary_over_budget",
  "strategy_edited",
  "strategy_split_group",
  "strategy_addition_refused",
  "strategy_over_budget",
  "summary_written",
  "overflow",
  "replayed",
] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** Structured evidence (which key, which message, which roll); the human sentence is made by whoever shows it. */
export type ReasonDetail = { readonly [key: string]: DetailValue };
export type DetailValue = string | number | boolean | null | readonly DetailValue[] | ReasonDetail;

export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly stage: string;
  readonly detail: ReasonDetail;
}
