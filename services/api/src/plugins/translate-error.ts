import { ImportError } from "@shiftwork/formats";
import { AssemblyInputError, TokenizerError } from "@shiftwork/pipeline";
import type { ErrorCode } from "@shiftwork/contracts";
import { isDatabaseAway } from "@shiftwork/db";
import { fieldProblem, HttpProblem } from "../errors.ts";

/** Fastify's own error codes, by the meaning they have for a client. */
const FRAMEWORK_CODES: { readonly [code: string]: readonly [ErrorCode, string] } = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["PAYLOAD_TOO_LARGE", "The body is larger than this route takes."],
  FST_REQ_FILE_TOO_LARGE: ["PAYLOAD_TOO_LARGE", "The file is larger than this route takes."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["UNSUPPORTED_MEDIA_TYPE", "This route does not take a body of this media type."],
  FST_INVALID_MULTIPART_CONTENT_TYPE: ["UNSUPPORTED_MEDIA_TYPE", "Send the file as multipart/form-data."],
  FST_ERR_CTP_INVALID_JSON_BODY: ["INVALID_JSON", "The body is not valid JSON."],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["INVALID_JSON", "The body is empty."],
  FST_FILES_LIMIT: ["VALIDATION_FAILED", "Send exactly one file."],
  FST_PARTS_LIMIT: ["VALIDATION_FAILED", "The form has too many parts."],
  FST_FIELDS_LIMIT: ["VALIDATION_FAILED", "The form has too many fields."],
  FST_PROTO_VIOLATION: ["VALIDATION_FAILED", "A form field has a name that is not allowed."],
};

/** SQLSTATE of a foreign key without its row: it was there when it was looked up. */
const REFERENCE_GONE = "23503";

/** Turns whatever was thrown into the problem to answer. What is not known becomes `INTERNAL`, without its message. */
export function translateError(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof AssemblyInputError) return fieldProblem(error.code, error.pointer, error.message, error.fix);
  if (error instanceof ImportError) return importProblem(error);
  if (error instanceof TokenizerError) return tokenizerProblem(error);
  const code = codeOf(error);
  const framework = FRAMEWORK_CODES[code];
  if (framework) return new HttpProblem(...framework);
  // Before the database: a client that breaks off its upload leaves ECONNRESET too.
  if (isClientError(error)) return new HttpProblem("VALIDATION_FAILED", "The request cannot be read.");
  if (isDatabaseAway(error)) {
    return new HttpProblem("SERVICE_UNAVAILABLE", "The database does not answer; try again.", { retryAfterSeconds: 1 });
  }
  if (code === REFERENCE_GONE)
    return new HttpProblem("NOT_FOUND", "Something the request refers to was deleted meanwhile.");
  return new HttpProblem("INTERNAL", "The request failed on our side; its id stands in our log.");
}

function importProblem(error: ImportError): HttpProblem {
  const { reason, line, field, fix, message } = error;
  return new HttpProblem("IMPORT_INVALID", message, {
    params: { reason, ...(line === undefined ? {} : { line }), ...(field === undefined ? {} : { field }) },
    errors: [{ pointer: field ?? "/file", code: reason, message, fix }],
  });
}

function tokenizerProblem({ pointer, message }: TokenizerError): HttpProblem {
  const fix =
    "Send a tokenizer.json of a byte-level BPE with a known pre-tokeniser (Llama 3, Qwen, gpt-oss, Mistral, DeepSeek).";
  return fieldProblem("TOKENIZER_INVALID", `/file${pointer}`, message, fix, "unsupported");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function isClientError(error: unknown): boolean {
  if (!(error instanceof Error) || !("statusCode" in error)) return false;
  return typeof error.statusCode === "number" && error.statusCode >= 400 && error.statusCode < 500;
}
