export {
  BLOCK_SOURCES,
  ROLES,
  STAGE_NAMES,
  type Block,
  type BlockSource,
  type CountedBlock,
  type LeftOutBlock,
  type Role,
  type StageName,
  type ToolCall,
} from "./block.ts";
export { startAssembly, type Assembly, type AssemblyInput } from "./assembly.ts";
export type { After, Clock } from "./clock.ts";
export { messagesOfBlocks } from "./audit/messages-of-blocks.ts";
export {
  readAuditDocument,
  toAuditDocument,
  toReplayDocument,
  type AuditContent,
  type AuditDocument,
  type AuditOmissions,
  type StoredAuditBlock,
} from "./audit/audit-document.ts";
export { fillMissingCounts } from "./audit/fill-counts.ts";
export {
  AUDIT_STATUSES,
  promptContextAudit,
  type AuditFacts,
  type AuditStatus,
  type AuditTarget,
  type AuditUsage,
  type PromptContextAudit,
} from "./audit/prompt-context-audit.ts";
export { reportAssembly } from "./audit/report.ts";
export { buildPrompt, runStage, STAGES, type Stage } from "./build-prompt.ts";
export { resolveBudget, tightenBudget, type ResolvedBudget, type ToldSize } from "./budget.ts";
export { underTighterBudget } from "./fit-again.ts";
export {
  LORE_POSITIONS,
  SELECTIVE_LOGICS,
  WORD_BOUNDARIES,
  type Character,
  type ChatMessage,
  type Conversation,
  type EarlierMessages,
  type LoreEntry,
  type Lorebook,
  type LorePosition,
  type Memory,
  type Persona,
  type SelectiveLogic,
} from "./conversation.ts";
export {
  ASSEMBLY_ERROR_CODES,
  AssemblyInputError,
  TokenBudgetExceededError,
  type AssemblyErrorCode,
  type LargestBlock,
  type TokenBudgetExceeded,
} from "./errors.ts";
export type {
  AssemblyReport,
  AuditBlock,
  AuditCounts,
  AuditRange,
  BudgetReport,
  ChatRequest,
  ChatRequestMessage,
  Interceptor,
  ProviderMessage,
  ProviderRequest,
  ShiftStep,
  StageReport,
  TextRequest,
  TextSpan,
  TokenizerFacts,
  WireFacts,
} from "./prompt.ts";
export {
  DIAGNOSTIC_CODES,
  EXCLUDED_REASONS,
  INCLUDED_REASONS,
  type Diagnostic,
  type DiagnosticCode,
  type ExcludedReason,
  type IncludedReason,
  type ReasonDetail,
} from "./reasons.ts";
export {
  ACTIONS,
  DEFAULT_LOREBOOK_SETTINGS,
  DEFAULT_MEMORY_SETTINGS,
  POST_PROCESSING,
  type Action,
  type AssemblySettings,
  type BudgetRequest,
  type LorebookSettings,
  type MemorySettings,
  type ModelFacts,
  type PostProcessing,
  type SamplingParameters,
  type ToolDefinition,
  type WireSettings,
} from "./settings.ts";
export { historyWindow, type HistoryWindow } from "./history-window.ts";
export { HASH_NGRAM, hashNgramVector } from "./memory/hash-ngram.ts";
export { meanReciprocalRank, type RelevanceSet } from "./memory/mean-reciprocal-rank.ts";
export { recallTexts, type RecallTexts } from "./memory/recall-texts.ts";
export { normalisedText, type RecallVectors } from "./memory/vectors.ts";
export { LONGEST_LISTED_RUN } from "./audit/audit-ranges.ts";
export { canonicalJson, sha256Hex } from "./hash.ts";
export { defaultSeed } from "./seed.ts";
export type { OptionSchema, ParamsSchema } from "./shift/check-options.ts";
export type { ContextMessage, ContextToolCall, SummaryMessage } from "./shift/context-message.ts";
export { createStrategyRegistry, resolveStrategy, STRATEGIES, type ContextStrategyRegistry } from "./shift/registry.ts";
export { shiftContext } from "./shift/shift-context.ts";
export { tokenCounterFor, type TokenCounter } from "./shift/token-counter.ts";
export type { CountTokens, ShiftOptions, ShiftOutcome } from "./shift/shift-options.ts";
export type {
  AnsweredBlock,
  MeasuredBlock,
  ShiftContext,
  ShiftInput,
  Strategy,
  StrategyAnswer,
} from "./shift/strategy.ts";
export type { Summarise, Summariser, SummaryFacts } from "./shift/summary/summariser.ts";
export { modelFacts } from "./tokens/models.ts";
export type { Profile } from "./tokens/profile.ts";
export {
  calibrated,
  CALIBRATION_FACTOR,
  driftRatio,
  learn,
  reportedPromptTokens,
  type Calibration,
  type CountSample,
  type Learned,
  type ReportedTokens,
} from "./tokens/calibration.ts";
export { countMessage } from "./tokens/counter.ts";
export { bareModelName, namedProfile, PROFILES, profileFor } from "./tokens/profiles.ts";
export { FAMILIES, familyOf, type FamilyName, type TokenizerFamily } from "./tokens/families.ts";
export type { Framing } from "./tokens/framing.ts";
export {
  compileTokenizer,
  createTokenizerCounter,
  readTokenizer,
  type CompiledTokenizer,
} from "./tokens/tokenizer-json/compile-tokenizer.ts";
export { MOST_TOKENIZER_CHARACTERS, parseTokenizer } from "./tokens/tokenizer-json/read-json.ts";
export { TokenizerError } from "./tokens/tokenizer-json/tokenizer-error.ts";
export {
  countsForModel,
  familiesOfModels,
  profileOfTokenizer,
  tokenizerProfile,
  type SuppliedTokenizer,
} from "./tokens/tokenizer-profile.ts";
export { INSTRUCT_FORMATS, type InstructFormatId } from "./template/formats.ts";
export type { InstructFormat, TurnSequences } from "./template/instruct-format.ts";
export { isChatRequest, providerMessages } from "./wire/chat-request.ts";
export { singleTurnRequest } from "./wire/single-turn.ts";
export { MOST_STOP_STRINGS } from "./wire/stop-strings.ts";
export { linkToolCalls, type ToolLink } from "./wire/tool-links.ts";
export { validateChatRequest } from "./wire/validate.ts";
export { validateTextRequest } from "./wire/validate-text.ts";
export { substitute } from "./macros/substitute.ts";
export { macroValues, type MacroValues } from "./macros/values.ts";
