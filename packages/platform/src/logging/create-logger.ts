import { pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from "pino";
import { censor, MASK } from "./censor.ts";

/** pino formats the fields of a line, not those bound to a child: the usual spellings are caught here. */
const BOUND_CREDENTIALS = ["authorization", "apiKey", "password", "secret", "masterKey"];
const BOUND_CONTENT = ["content", "text", "prompt", "messages"];

/** pino's logger. Lines carry `requestId`, `traceId`, `tenantId`, `generationId`, `chatId`, `errorCode`, `durationMs`. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Lines below this level are dropped. */
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** The process: `api`, `worker`. */
  readonly name: string;
  /** Also log the text of messages. Default false; credentials are never logged. */
  readonly showContent?: boolean;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** A logger that writes one JSON object per line: `time` (ISO 8601), `level` as a word, `name`, fields, `msg`. */
export function createLogger({ level, name, showContent = false, destination }: LoggerOptions): Logger {
  const hide = (fields: Record<string, unknown>) => censor(fields, showContent) as Record<string, unknown>;
  const serializeError = (error: unknown): unknown =>
    error instanceof Error ? censor({ ...stdSerializers.err(error) }, showContent) : error;
  return pino(
    {
      level,
      base: { name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: hide },
      redact: { paths: [...BOUND_CREDENTIALS, ...(showContent ? [] : BOUND_CONTENT)], censor: MASK },
      serializers: { err: serializeError, error: serializeError },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
}
