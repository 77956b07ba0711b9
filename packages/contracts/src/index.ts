export { chooseSummarizer, type ChosenSummarizer } from "./choose-summarizer.ts";
export { ERROR_CODES, GENERATION_ERROR_CODES, type ErrorCode, type ProviderErrorCode } from "./error-codes.ts";
export { errorFingerprint, type FailurePlace } from "./error-fingerprint.ts";
export {
  GENERATION_STATUSES,
  StreamEvent,
  TERMINAL_EVENT_TYPES,
  TERMINAL_STATUSES,
  isTerminal,
  isTerminalEvent,
  type EventData,
  type EventType,
  type GenerationEvent,
  type GenerationStatus,
  type NewEvent,
  type Problem,
  type TerminalData,
  type TerminalStatus,
} from "./events.ts";
export { ID_PREFIXES, decodeId, encodeId, type IdKind } from "./ids.ts";
export { jobId, type GenerationJob } from "./job.ts";
export { budgetProblem, ERROR_FACTS, problem } from "./problem.ts";
export { CharacterObject, CreateCharacter } from "./http/characters.ts";
export { BranchNumber, BranchObject, CreateBranch } from "./http/branches.ts";
export { ChatObject, ChatSettingsObject, CreateChat } from "./http/chats.ts";
export {
  AuditBlockObject,
  ChatContextAudit,
  ContextPreview,
  CreateContextPreview,
  PREVIEW_PARTS,
  PromptContextAudit,
} from "./http/context.ts";
export { ContextStrategyObject } from "./http/context-strategies.ts";
export { PageQuery, pageOf, publicId } from "./http/fields.ts";
export {
  AssemblyPromise,
  CancelGeneration,
  CreateGeneration,
  DEADLINE_MS,
  GenerationObject,
  GenerationWaitQuery,
  LONGEST_WAIT_SECONDS,
  ListedGeneration,
  RetryGeneration,
  type OnBusy,
  type RetryMode,
  type Turn,
} from "./http/generations.ts";
export {
  BoundedCount,
  DEAD_LETTER_STATES,
  GenerationFilter,
  GenerationQuery,
  LARGEST_COUNT,
  SHOWN_STATUSES,
  type ShownStatus,
} from "./http/generation-filter.ts";
export { ERROR_STATES, ErrorGroupObject, ErrorQuery, PatchErrorGroup } from "./http/errors.ts";
export { DeadLetterObject, DeadLetterQuery, DiscardDeadLetter } from "./http/dead-letters.ts";
export {
  BulkActionObject,
  BulkActionPreview,
  BulkTarget,
  CreateBulkAction,
  MOST_BULK_IDS,
  RETRY_OBSTACLES,
  type RetryObstacle,
  type SkipReason,
} from "./http/bulk-actions.ts";
export { CreateTenant, PatchTenant, TenantObject } from "./http/tenants.ts";
export { HealthObject, QueueObject, QueueStats, TenantStateObject, WorkerObject } from "./http/operations.ts";
export { Alive, VersionObject } from "./http/health.ts";
export {
  IMPORT_KINDS,
  ImportCreated,
  ImportFields,
  ImportObject,
  ImportUpload,
  ImportWarningObject,
  type ImportKind,
} from "./http/imports.ts";
export { CreateLorebook, CreateLoreEntry, LorebookBinding, LorebookObject, LoreEntryObject } from "./http/lorebooks.ts";
export { CreateMemory, MemoryObject, MemoryQuery } from "./http/memories.ts";
export { Tokenize, TokenizerFields, TokenizerObject, TokenizerUpload, TokenCount } from "./http/tokenizers.ts";
export { CreateMessage, MessageObject, MessageQuery, PatchMessage } from "./http/messages.ts";
export { CreatePersona, PersonaObject } from "./http/personas.ts";
export { FieldProblem, GenerationProblem, ProblemDetails } from "./http/problem-details.ts";
export { ALL_ADMIN_SCOPES, ALL_TENANT_SCOPES, grants, SCOPES, type Scope } from "./http/scopes.ts";
export { PatchSettings, PatchTenantSettings, SettingsObject, TenantSettingsObject } from "./http/settings.ts";
export { RecallSetting } from "./http/recall.ts";
export { GenerationStreamEvent } from "./http/stream-events.ts";
export { chooseRecall } from "./choose-recall.ts";
export { resolveSettings, wireOfKind, type SettingsLayers, type StandingLevel } from "./resolve-settings.ts";
