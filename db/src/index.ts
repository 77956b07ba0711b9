export {
  assertRoleIsBound,
  FROZEN_AFTER_MS,
  openDatabase,
  type Database,
  type DatabaseOptions,
  type ServiceRole,
} from "./client.ts";
export { giveLeaseBack, takeLease } from "./queries/leases.ts";
export { LATEST_MIGRATION, migrate } from "./migrate.ts";
export { findApiKey, insertApiKey, type ApiKey, type NewApiKey } from "./queries/api-keys.ts";
export { insertAdminKey } from "./queries/admin-keys.ts";
export {
  abortBulkAction,
  completeBulkAction,
  deleteFinishedBulkActions,
  findBulkAction,
  forgetBulkTargetsGone,
  holdBulkAction,
  insertBulkAction,
  listBulkActions,
  putDownBulkAction,
  recordBulkProgress,
  takeUpBulkAction,
  type BulkActionRow,
  type BulkProgress,
  type HeldBulkAction,
} from "./queries/bulk-actions.ts";
export { findCalibration, recordCountSample, type CalibrationPlace } from "./queries/token-calibrations.ts";
export {
  deleteTokenizer,
  findTokenizer,
  findTokenizerFile,
  insertTokenizer,
  listTokenizers,
  type NewTokenizer,
  type TokenizerRow,
} from "./queries/tokenizers.ts";
export { requestCancel, type CancelOutcome } from "./queries/cancel.ts";
export { findBehind, requestCancels, type ManyCancelled } from "./queries/cancel-many.ts";
export {
  discardDeadLetters,
  findDeadLetters,
  findDeadLettersEverywhere,
  markRetried,
  type DeadLetterFacts,
} from "./queries/dead-letters.ts";
export {
  listErrorGroups,
  listErrorGroupsEverywhere,
  writeErrorState,
  type ErrorGroupRow,
} from "./queries/error-groups.ts";
export {
  branchPath,
  findBranchPath,
  isOnPath,
  sliceOfPath,
  type BranchPath,
  type PathPart,
} from "./queries/branch-path.ts";
export {
  insertBranch,
  listBranches,
  setActiveBranch,
  type BranchFork,
  type BranchRow,
} from "./queries/chat-branches.ts";
export { bumpChatRevision, lockChat } from "./queries/chat-revision.ts";
export {
  endDueWaits,
  findAllTenants,
  findHeads,
  findReadyAmong,
  findReadyTenants,
  findRecentlyActiveTenants,
  findUnclaimed,
  markDispatched,
  readDispatchWindow,
  undoDispatch,
  type Undispatched,
  type DispatchLimits,
  type DispatchWindow,
  type WantedHead,
} from "./queries/dispatch.ts";
export { endFrozenSessions } from "./queries/frozen-sessions.ts";
export { DISPATCHED_QUEUE, pauseQueue, readQueuePause, resumeQueue } from "./queries/queues.ts";
export {
  countQueueByTenant,
  countTenantQueue,
  LAST_QUEUE_POSITION,
  readQueuePosition,
  sumQueueCounts,
  type QueueCounts,
  type TenantQueueCounts,
} from "./queries/queue-stats.ts";
export {
  appendEvents,
  appendEventsFenced,
  deleteExpiredEvents,
  EVENTS_CHANNEL,
  isEndInLog,
  numberBeyond,
  readEvents,
  type EventsToAppend,
} from "./queries/generation-events.ts";
export {
  loadAssemblyInput,
  loadNewAssemblyInput,
  type ConversationQuery,
  type NewConversationQuery,
  type StoredInput,
} from "./queries/generation-inputs.ts";
export {
  claimGeneration,
  endGeneration,
  isReported,
  NO_USAGE,
  recordContext,
  recordFirstToken,
  type Claim,
  type Ended,
  type Ending,
  type Usage,
} from "./queries/generation-lifecycle.ts";
export { requeueRun, type Requeue } from "./queries/requeue-run.ts";
export { dispatchAtOnce, giveRoomBack, publishRoom } from "./queries/dispatch-room.ts";
export { appendUserMessage, attachPendingMessage } from "./queries/waiting-turns.ts";
export {
  dropEmbeddingRequest,
  findDueEmbeddingRequests,
  postponeEmbeddingRequest,
  postponeEmbeddingsOf,
  requestEmbeddings,
  settleEmbeddingRequest,
  type EmbeddingRequest,
} from "./queries/embedding-requests.ts";
export {
  deleteUnusedVectors,
  findKeysWithoutVector,
  findVectors,
  insertVectors,
  touchVectors,
  type StoredVector,
} from "./queries/embeddings.ts";
export { findGenerationSummary, keepGenerationSummary, type StoredSummary } from "./queries/generation-summaries.ts";
export {
  CANCEL_CHANNEL,
  countQueued,
  DISPATCH_CHANNEL,
  findActiveChain,
  findActiveAnswering,
  findActiveGeneration,
  findGeneration,
  findGenerationContents,
  findNewerTries,
  insertGeneration,
  type GenerationContents,
  type GenerationInLine,
  type GenerationRow,
  type NewGeneration,
} from "./queries/generations.ts";
export {
  countGenerations,
  countGenerationsEverywhere,
  findGenerationIds,
  listGenerations,
  listGenerationsEverywhere,
  type Counted,
  type GenerationFilter,
  type GenerationPage,
  type TenantGenerationRow,
} from "./queries/generation-lists.ts";
export { findOrphanedAudits, settleOrphanedAudit } from "./queries/orphaned-audits.ts";
export {
  deleteFinishedAudit,
  findChatAudit,
  prepareAudit,
  type AuditRow,
  type PreparedAudit,
  type ReasonCount,
} from "./queries/prompt-context-audits.ts";
export { findProvider, insertProvider, listProviders, type ProviderRow } from "./queries/providers.ts";
export {
  lockCharacterSettings,
  lockTenantSettings,
  readCharacterSettings,
  readStandingSettings,
  writeCharacterSettings,
  writeChatSettings,
  type StandingSettings,
} from "./queries/settings.ts";
export {
  changeTenant,
  findTenant,
  insertTenant,
  listTenants,
  pauseTenant,
  readTenantLimits,
  readTenantSettings,
  resumeTenant,
  tenantExists,
  writeTenantSettings,
  type NewTenant,
  type TenantRow,
} from "./queries/tenants.ts";
export {
  heartbeat,
  listWorkers,
  removeSilentWorkers,
  removeWorker,
  type ListedWorker,
  type WorkerRow,
} from "./queries/workers.ts";
export {
  findPastDeadline,
  findRunsOfDeadWorkers,
  findRunsOfWorker,
  lockHeldRun,
  type HeldRun,
} from "./queries/held-runs.ts";
export type {
  AuditPatch,
  CharacterSettings,
  ChatSettings,
  GenerationContext,
  Counting,
  GenerationRequest,
  ProviderModel,
  Tables,
  TenantSettings,
} from "./tables.ts";
export { isDatabaseAway } from "./is-database-away.ts";
export { actAs, withTenant, type Db, type Tx } from "./transaction.ts";
export { findAuditedEverywhere, findAuditedGenerations } from "./queries/audited-generations.ts";
export {
  findCharacter,
  insertCharacter,
  listCharacters,
  type CharacterRow,
  type IdPage,
  type NewCharacter,
} from "./queries/characters.ts";
export {
  deleteChat,
  findChat,
  findChatLocked,
  insertChat,
  listChats,
  type ChatRow,
  type DeletedChat,
  type NewChat,
  type StoppedGeneration,
} from "./queries/chats.ts";
export {
  claimIdempotencyKey,
  deleteExpiredIdempotencyKeys,
  storeAnswer,
  type IdempotencyClaim,
  type IdempotentRequest,
  type StoredAnswer,
} from "./queries/idempotency-keys.ts";
export { findImport, insertImport, type ImportRow } from "./queries/imports.ts";
export {
  bindLorebook,
  findLorebook,
  findLoreEntry,
  insertLorebook,
  insertLoreEntries,
  listLorebooks,
  listLoreEntries,
  lockLorebook,
  nextEntryUid,
  type BindingRow,
  type LorebookRow,
  type LoreEntryRow,
  type NewLorebook,
  type NewLoreEntry,
} from "./queries/lorebooks.ts";
export { findMemory, insertMemory, listMemories, type MemoryRow, type NewMemory } from "./queries/memories.ts";
export { lastInLineFirst } from "./queries/place-in-line.ts";
export { deleteOldContent } from "./queries/content-retention.ts";
export { deleteMessageTraces } from "./queries/message-traces.ts";
export { chooseVariant, deleteMessage, updateMessage, type MessageChange } from "./queries/message-changes.ts";
export {
  appendMessages,
  findLastMessages,
  findMessage,
  isLastInput,
  listMessages,
  type LastMessages,
  type MessagePage,
  type MessageRow,
  type NewMessage,
} from "./queries/messages.ts";
export { findPersona, insertPersona, listPersonas, type PersonaRow } from "./queries/personas.ts";
export { uuidv7 as newId } from "uuidv7";
