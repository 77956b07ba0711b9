import type {
  AssemblyReport,
  Calibration,
  Character,
  LoreEntry,
  PostProcessing,
  ProviderRequest,
  SamplingParameters,
  StageReport,
  ToolCall,
  ToolDefinition,
} from "@shiftwork/pipeline";
import type { GenerationStatus, Problem, RecallSetting } from "@shiftwork/contracts";
import type { ColumnType, Generated } from "kysely";

type Json<T extends object> = ColumnType<T, T, T>;
/** The database computes it. */
type ReadOnly<T> = ColumnType<T, never, never>;
/** May be left out of an insert. */
type NullableJson<T extends object> = ColumnType<T | null, T | null | undefined, T | null>;

/** Every table as Kysely sees it. Column names are the database's own; `schema.sql` is the truth, a test compares. */
export interface Tables {
  tenants: TenantsTable;
  tenant_settings: { tenant_id: string; settings: Json<TenantSettings> };
  api_keys: ApiKeysTable;
  providers: ProvidersTable;
  characters: CharactersTable;
  personas: PersonasTable;
  lorebooks: LorebooksTable;
  lorebook_entries: LorebookEntriesTable;
  lorebook_bindings: LorebookBindingsTable;
  chats: ChatsTable;
  chat_branches: ChatBranchesTable;
  messages: MessagesTable;
  memories: MemoriesTable;
  embeddings: EmbeddingsTable;
  embedding_requests: EmbeddingRequestsTable;
  imports: ImportsTable;
  tokenizers: TokenizersTable;
  token_calibrations: TokenCalibrationsTable;
  generations: GenerationsTable;
  generation_contents: GenerationContentsTable;
  generation_summaries: GenerationSummariesTable;
  generation_attempts: GenerationAttemptsTable;
  generation_labels: { tenant_id: string; generation_id: string; key: string; value: string };
  generation_reasons: GenerationReasonsTable;
  generation_events: GenerationEventsTable;
  idempotency_keys: IdempotencyKeysTable;
  prompt_context_audits: PromptContextAuditsTable;
  workers: WorkersTable;
  leases: { name: string; holder: string; expires_at: Date };
  admin_keys: AdminKeysTable;
  error_states: ErrorStatesTable;
  bulk_actions: BulkActionsTable;
  queues: { name: string; paused_at: Date | null };
  dispatch_room: { queue: string; free: number; published_at: Generated<Date> };
}

interface TenantsTable {
  id: string;
  name: string;
  max_concurrency: Generated<number>;
  max_queued: Generated<number>;
  weight: Generated<number>;
  concurrency_share: number | null;
  paused_at: Date | null;
  created_at: Generated<Date>;
}

/** What a tenant chose for all its chats; everything unset falls back to the product's defaults. */
export interface TenantSettings {
  readonly providerId?: string;
  readonly model?: string;
  readonly contextStrategy?: string;
  readonly strategyOptions?: { readonly [option: string]: unknown };
  readonly contextLimit?: number;
  readonly reservedForReply?: number;
  readonly recall?: RecallSetting;
  readonly mainPrompt?: string;
  readonly postHistoryInstructions?: string;
  readonly contentRetentionDays?: number;
}

/** What a chat chose for itself; the same fields, two levels closer. */
export type ChatSettings = Omit<TenantSettings, "mainPrompt" | "postHistoryInstructions" | "contentRetentionDays">;

/** What a character brings to its chats, between theirs and the tenant's. */
export type CharacterSettings = ChatSettings;

interface ApiKeysTable {
  tenant_id: string;
  id: string;
  key_id: string;
  secret_hash: Uint8Array;
  name: string;
  scopes: string[];
  owner_id: string | null;
  created_at: Generated<Date>;
  expires_at: Date | null;
  revoked_at: Date | null;
}

export interface ProviderModel {
  readonly model: string;
  readonly contextLimit: number | null;
  readonly maxOutputTokens: number | null;
  /** What a strict endpoint needs done to the messages; absent = nothing. */
  readonly postProcessing?: PostProcessing;
}

interface ProvidersTable {
  tenant_id: string;
  id: string;
  name: string;
  kind: string;
  base_url: Generated<string>;
  secret: Uint8Array | null;
  allow_private_network: Generated<boolean>;
  models: Json<ProviderModel[]>;
  created_at: Generated<Date>;
}

interface CharactersTable {
  tenant_id: string;
  id: string;
  name: string;
  data: Json<Omit<Character, "id">>;
  source: NullableJson<object>;
  settings: ColumnType<CharacterSettings, CharacterSettings | undefined, CharacterSettings>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface PersonasTable {
  tenant_id: string;
  id: string;
  name: string;
  description: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface LorebooksTable {
  tenant_id: string;
  id: string;
  name: string;
  scan_depth: number | null;
  budget_tokens: number | null;
  word_boundaries: Generated<"unicode" | "ascii">;
  source: NullableJson<object>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface LorebookEntriesTable {
  tenant_id: string;
  id: string;
  lorebook_id: string;
  uid: number;
  data: Json<Omit<LoreEntry, "id" | "uid">>;
  source: NullableJson<object>;
  created_at: Generated<Date>;
}

interface LorebookBindingsTable {
  tenant_id: string;
  lorebook_id: string;
  chat_id: string | null;
  persona_id: string | null;
  character_id: string | null;
  created_at: Generated<Date>;
}

interface ChatsTable {
  tenant_id: string;
  id: string;
  title: Generated<string>;
  character_id: string | null;
  persona_id: string | null;
  owner_id: string | null;
  revision: Generated<number>;
  active_branch: Generated<number>;
  settings: Json<ChatSettings>;
  metadata: Json<object>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface ChatBranchesTable {
  tenant_id: string;
  chat_id: string;
  branch: number;
  parent_branch: number;
  fork_seq: number;
  created_at: Generated<Date>;
}

interface MessagesTable {
  tenant_id: string;
  id: string;
  chat_id: string;
  branch: Generated<number>;
  seq: number;
  variant: Generated<number>;
  active: Generated<boolean>;
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  name: string | null;
  tool_calls: Json<ToolCall[]>;
  tool_call_id: string | null;
  pinned: Generated<boolean>;
  hidden: Generated<boolean>;
  partial: Generated<boolean>;
  failed: Generated<boolean>;
  generation_id: string | null;
  meta: Json<object>;
  created_at: Generated<Date>;
}

interface MemoriesTable {
  tenant_id: string;
  id: string;
  chat_id: string | null;
  character_id: string | null;
  content: string;
  pinned: Generated<boolean>;
  source_message_id: string | null;
  created_at: Generated<Date>;
}

interface EmbeddingsTable {
  tenant_id: string;
  key: Uint8Array;
  vector: Uint8Array;
  used_on: Generated<string>;
}

interface EmbeddingRequestsTable {
  tenant_id: string;
  chat_id: string;
  with_lore: boolean;
  asks: Generated<number>;
  failures: Generated<number>;
  requested_at: Generated<Date>;
  next_try_at: Generated<Date>;
}

interface ImportsTable {
  tenant_id: string;
  id: string;
  kind: string;
  file_name: string | null;
  result: Json<object>;
  warnings: Json<object[]>;
  created_at: Generated<Date>;
}

interface TokenizersTable {
  tenant_id: string;
  id: string;
  name: string;
  models: string[];
  size_bytes: number;
  file: Uint8Array;
  created_at: Generated<Date>;
}

interface TokenCalibrationsTable {
  tenant_id: string;
  provider_id: string;
  model: string;
  profile: string;
  profile_version: number;
  version: number;
  factor: number;
  ratio: number;
  samples: number;
  updated_at: Generated<Date>;
}

/** The context in numbers: what a generation row keeps after its audit was replaced. */
export interface GenerationContext {
  readonly contextLimit: number;
  readonly reservedForReply: number;
  readonly promptTokens: number | null;
  readonly tokenizer: AssemblyReport["tokenizer"];
  readonly counts: AssemblyReport["counts"];
  readonly assemblyHash: string | null;
}

interface GenerationsTable {
  tenant_id: string;
  id: string;
  chat_id: string | null;
  owner_id: string | null;
  status: Generated<GenerationStatus>;
  action: string;
  provider_id: string;
  provider_kind: string;
  model: string;
  strategy: string;
  seed: string;
  epoch: Generated<number>;
  fence: Generated<number>;
  attempts: Generated<number>;
  max_attempts: Generated<number>;
  worker_id: string | null;
  input_message_id: string | null;
  branch: number | null;
  target_message_id: string | null;
  output_message_id: string | null;
  retry_of: string | null;
  anchor_message_id: string | null;
  priority: Generated<number>;
  not_before: Date | null;
  blocked_by: string | null;
  created_at: Generated<Date>;
  dispatched_at: Date | null;
  started_at: Date | null;
  first_token_at: Date | null;
  finished_at: Date | null;
  deadline_at: Date;
  cancel_requested_at: Date | null;
  cancel_reason: string | null;
  error: NullableJson<Problem>;
  error_code: string | null;
  error_fingerprint: string | null;
  dead_letter: "open" | "retried" | "discarded" | null;
  dead_letter_note: string | null;
  told_waits: Generated<number>;
  approximate: ReadOnly<boolean | null>;
  truncated: ReadOnly<boolean | null>;
  error_origin: ReadOnly<string | null>;
  finish_reason: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  context: NullableJson<GenerationContext>;
  stages: NullableJson<StageReport[]>;
  metadata: NullableJson<object>;
  request_id: string | null;
}

/** The part of a request that is content, as accepted: what a re-run or a retry assembles from. */
export interface GenerationRequest {
  readonly parameters: SamplingParameters;
  readonly tools: readonly ToolDefinition[];
  readonly budget: { readonly contextLimit?: number | undefined; readonly reservedForReply?: number | undefined };
  readonly strategyOptions: { readonly [key: string]: unknown };
  readonly personaId: string | null;
  readonly lorebookIds: readonly string[] | null;
  /** RFC 3339; the clock the prompt is assembled with. */
  readonly now: string;
  /** Set when the caller insists on what a preview promised. */
  readonly expectedHash: string | null;
  /** Absent in requests from before there was a choice: as the built-in profiles count. */
  readonly counting?: Counting;
}

/** What a turn is counted with, decided when it is accepted, so that nothing learned later changes it. */
export interface Counting {
  /** The tenant's tokenizer; `null` = the built-in profile of the model. */
  readonly tokenizerId: string | null;
  /** What estimates are multiplied by; `null` = nothing. */
  readonly calibration: Calibration | null;
}

/** The user's message of a turn that waits for the one before it in its chat. */
export interface PendingMessage {
  readonly content: string;
  readonly name: string | null;
}

interface GenerationContentsTable {
  tenant_id: string;
  generation_id: string;
  chat_id: string;
  request: Json<GenerationRequest>;
  pending_message: NullableJson<PendingMessage>;
  replay: NullableJson<ProviderRequest>;
}

interface GenerationSummariesTable {
  tenant_id: string;
  generation_id: string;
  chat_id: string;
  source_hash: string;
  text: string;
  created_at: Generated<Date>;
}

interface GenerationAttemptsTable {
  tenant_id: string;
  generation_id: string;
  attempt: number;
  fence: number;
  worker_id: string;
  started_at: Generated<Date>;
  ended_at: Date | null;
  outcome: "completed" | "failed" | "cancelled" | "lost" | "handed_back" | null;
  error_code: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
}

interface GenerationReasonsTable {
  tenant_id: string;
  generation_id: string;
  source: string;
  reason: string;
  included: boolean;
  count: number;
}

interface GenerationEventsTable {
  tenant_id: string;
  generation_id: string;
  seq: number;
  type: string;
  data: Json<object>;
  created_at: Generated<Date>;
}

interface IdempotencyKeysTable {
  tenant_id: string;
  method: string;
  path: string;
  key: string;
  fingerprint: Uint8Array;
  generation_id: string | null;
  status: number;
  body: Json<object>;
  created_at: Generated<Date>;
  expires_at: Date;
}

/** What is learned after the request left; merged into the document when it is read. */
export interface AuditPatch {
  /** As the provider reported it; absent when it did not. */
  readonly usage?: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    readonly cacheReadTokens: number | null;
  };
}

interface PromptContextAuditsTable {
  tenant_id: string;
  chat_id: string;
  slot: "prepared" | "finished";
  generation_id: string;
  attempt: number;
  status: "prepared" | "completed" | "failed" | "cancelled";
  error_code: string | null;
  provider_id: string;
  provider_kind: string;
  model: string;
  strategy: string;
  tokenizer_profile: string;
  approximate: boolean;
  context_limit: number;
  reserved_for_reply: number;
  prompt_tokens: number | null;
  included: number;
  excluded: number;
  summarised: number;
  truncated: number;
  assembly_hash: string | null;
  prefix_hash: string | null;
  created_at: Generated<Date>;
  finished_at: Date | null;
  document: Uint8Array;
  patch: Json<AuditPatch>;
}

interface WorkersTable {
  id: string;
  host: string;
  pid: number;
  slots: number;
  started_at: Generated<Date>;
  heartbeat_at: Generated<Date>;
}

interface AdminKeysTable {
  id: string;
  key_id: string;
  secret_hash: Uint8Array;
  name: string;
  scopes: string[];
  created_at: Generated<Date>;
  expires_at: Date | null;
  revoked_at: Date | null;
}

interface ErrorStatesTable {
  tenant_id: string;
  fingerprint: string;
  state: "open" | "resolved" | "ignored";
  changed_at: Generated<Date>;
}

interface BulkActionsTable {
  tenant_id: string;
  id: string;
  owner_id: string | null;
  api_key_id: string;
  request_id: string;
  action: "cancel" | "retry" | "discard";
  target: Json<object>;
  note: string | null;
  status: Generated<"queued" | "running" | "completed" | "aborted">;
  total: number;
  total_capped: boolean;
  done: Generated<number>;
  succeeded: Generated<number>;
  skipped: Generated<number>;
  failed: Generated<number>;
  failures: ColumnType<{ readonly [code: string]: number }, undefined, object>;
  skips: ColumnType<{ readonly [reason: string]: number }, undefined, object>;
  last_generation_id: string | null;
  created_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  lease_holder: string | null;
  lease_expires_at: Date | null;
}
