import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { fieldProblem, HttpProblem } from "../errors.ts";
import { validationProblem } from "../plugins/validation.ts";

/** A form with one file. */
export interface FileForm<Fields> {
  readonly bytes: Uint8Array;
  readonly fileName: string | null;
  readonly fields: Fields;
}

/** Room for a few short fields beside the file. */
const LIMITS = { files: 1, fields: 10, fieldSize: 20_000, parts: 11 };
const LONGEST_FILE_NAME = 255;

/** Reads the form: one file of at most so many bytes and some fields, in any order. */
export async function readForm<Fields>(
  request: FastifyRequest,
  schema: z.ZodType<Fields>,
  mostBytes: number,
): Promise<FileForm<Fields>> {
  const { file, fields } = await readParts(request, mostBytes);
  if (file === null) {
    throw fieldProblem("VALIDATION_FAILED", "/file", "The form has no file.", "Send the file as the form's part file.");
  }
  const parsed = schema.safeParse(fields);
  if (!parsed.success) throw validationProblem(parsed.error, "form");
  return { ...file, fields: parsed.data };
}

type Part = Pick<FileForm<never>, "bytes" | "fileName">;

async function readParts(
  request: FastifyRequest,
  mostBytes: number,
): Promise<{ file: Part | null; fields: { [name: string]: unknown } }> {
  const fields: { [name: string]: unknown } = {};
  let file: Part | null = null;
  try {
    for await (const part of request.parts({ limits: { ...LIMITS, fileSize: mostBytes } })) {
      if (part.type === "file") file = { bytes: await part.toBuffer(), fileName: cleanName(part.filename) };
      else fields[part.fieldname] = storable(String(part.value));
    }
  } catch (error) {
    throw isFramework(error) ? error : new HttpProblem("VALIDATION_FAILED", "The form cannot be read to its end.");
  }
  return { file, fields };
}

/** Errors with a code of their own are told apart elsewhere; the form parser's others only say that it is broken. */
function isFramework(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("FST_");
}

function cleanName(name: string | undefined): string | null {
  const base =
    storable(name ?? "")
      .split(/[/\\]/)
      .at(-1)
      ?.trim() ?? "";
  return base === "" ? null : base.slice(0, LONGEST_FILE_NAME);
}

function storable(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, "");
}
