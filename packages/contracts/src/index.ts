export { ERROR_CODES, type ErrorCode, type ProviderErrorCode } from "./error-codes.ts";
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
