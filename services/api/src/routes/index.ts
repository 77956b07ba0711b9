import { activateBranch } from "./branches/activate.ts";
import { createBranch } from "./branches/create.ts";
import { listBranches } from "./branches/list.ts";
import { createCharacter } from "./characters/create.ts";
import { listCharacters } from "./characters/list.ts";
import { readCharacter } from "./characters/read.ts";
import { createChat } from "./chats/create.ts";
import { deleteChat } from "./chats/delete.ts";
import { listChats } from "./chats/list.ts";
import { readChat } from "./chats/read.ts";
import { listContextStrategies } from "./context/list-strategies.ts";
import { createContextPreview } from "./context/preview.ts";
import { readContextAudit } from "./context/read-audit.ts";
import type { Endpoint } from "./endpoint.ts";
import { cancelGeneration } from "./generations/cancel.ts";
import { createGeneration } from "./generations/create.ts";
import { streamGeneration } from "./generations/events.ts";
import { listGenerations } from "./generations/list.ts";
import { readGeneration } from "./generations/read.ts";
import { retryGeneration } from "./generations/retry.ts";
import { createImport } from "./imports/create.ts";
import { readImport } from "./imports/read.ts";
import { createLoreEntry } from "./lorebooks/create-entry.ts";
import { createLorebook } from "./lorebooks/create.ts";
import { listLoreEntries } from "./lorebooks/list-entries.ts";
import { listLorebooks } from "./lorebooks/list.ts";
import { readLoreEntry } from "./lorebooks/read-entry.ts";
import { readLorebook } from "./lorebooks/read.ts";
import { createMemory } from "./memories/create.ts";
import { listMemories } from "./memories/list.ts";
import { readMemory } from "./memories/read.ts";
import { createMessage } from "./messages/create.ts";
import { deleteMessage } from "./messages/delete.ts";
import { listMessages } from "./messages/list.ts";
import { readMessage } from "./messages/read.ts";
import { selectMessage } from "./messages/select.ts";
import { updateMessage } from "./messages/update.ts";
import { createPersona } from "./personas/create.ts";
import { listPersonas } from "./personas/list.ts";
import { readPersona } from "./personas/read.ts";
import { readCharacterSettings } from "./settings/read-character.ts";
import { readChatSettings } from "./settings/read-chat.ts";
import { readSettings } from "./settings/read-tenant.ts";
import { updateCharacterSettings } from "./settings/update-character.ts";
import { updateChatSettings } from "./settings/update-chat.ts";
import { updateSettings } from "./settings/update-tenant.ts";
import { abortBulkAction } from "./bulk-actions/abort.ts";
import { createBulkAction } from "./bulk-actions/create.ts";
import { listBulkActions } from "./bulk-actions/list.ts";
import { readBulkAction } from "./bulk-actions/read.ts";
import { discardDeadLetter } from "./dead-letters/discard.ts";
import { listDeadLetters } from "./dead-letters/list.ts";
import { readDeadLetter } from "./dead-letters/read.ts";
import { retryDeadLetter } from "./dead-letters/retry.ts";
import { listErrors } from "./errors/list.ts";
import { readError } from "./errors/read.ts";
import { updateError } from "./errors/update.ts";
import { queueSwitch } from "./queues/queue-switch.ts";
import { readQueueStats } from "./stats/queue.ts";
import { createTenant } from "./tenants/create.ts";
import { listTenants } from "./tenants/list.ts";
import { readTenant } from "./tenants/read.ts";
import { updateTenant } from "./tenants/update.ts";
import { tenantSwitch } from "./tenants/tenant-switch.ts";
import { createTokenizer } from "./tokenizers/create.ts";
import { deleteTokenizer } from "./tokenizers/delete.ts";
import { listTokenizers } from "./tokenizers/list.ts";
import { tokenize } from "./tokenizers/tokenize.ts";
import { listWorkers } from "./workers/list.ts";
import { readLiveness } from "./service/alive.ts";
import { readHealth } from "./service/health.ts";
import { readReadiness } from "./service/ready.ts";
import { readVersion } from "./service/version.ts";

/** Every endpoint, by its operation id. Router, OpenAPI document and tests go over this list. */
export const ENDPOINTS = {
  createCharacter,
  listCharacters,
  readCharacter,
  createPersona,
  listPersonas,
  readPersona,
  createLorebook,
  listLorebooks,
  readLorebook,
  createLoreEntry,
  listLoreEntries,
  readLoreEntry,
  createMemory,
  listMemories,
  readMemory,
  createImport,
  readImport,
  createChat,
  listChats,
  readChat,
  deleteChat,
  createMessage,
  listMessages,
  readMessage,
  updateMessage,
  deleteMessage,
  selectMessage,
  createBranch,
  listBranches,
  activateBranch,
  createGeneration,
  listGenerations,
  readGeneration,
  streamGeneration,
  cancelGeneration,
  retryGeneration,
  readContextAudit,
  createContextPreview,
  listContextStrategies,
  createTokenizer,
  listTokenizers,
  deleteTokenizer,
  tokenize,
  readSettings,
  updateSettings,
  readChatSettings,
  updateChatSettings,
  readCharacterSettings,
  updateCharacterSettings,
  listErrors,
  readError,
  updateError,
  listDeadLetters,
  readDeadLetter,
  retryDeadLetter,
  discardDeadLetter,
  createBulkAction,
  listBulkActions,
  readBulkAction,
  abortBulkAction,
  readQueueStats,
  listWorkers,
  pauseQueue: queueSwitch("pause"),
  resumeQueue: queueSwitch("resume"),
  createTenant,
  listTenants,
  readTenant,
  updateTenant,
  pauseTenant: tenantSwitch("pause"),
  resumeTenant: tenantSwitch("resume"),
  readHealth,
  readLiveness,
  readReadiness,
  readVersion,
} as const satisfies Record<string, Endpoint>;
