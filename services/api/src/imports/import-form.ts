import { ImportFields } from "@shiftwork/contracts";
import { IMPORT_LIMITS } from "@shiftwork/formats";
import type { FastifyRequest } from "fastify";
import { readForm, type FileForm } from "../forms/read-form.ts";

/** A form as the import routes take it. */
export type ImportForm = FileForm<ImportFields>;

/** Reads the form; its file may be as large as any format takes. */
export function readImportForm(request: FastifyRequest): Promise<ImportForm> {
  return readForm(request, ImportFields, IMPORT_LIMITS.chatFileBytes);
}
