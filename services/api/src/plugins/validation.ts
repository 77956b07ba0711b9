import type { FieldProblem } from "@shiftwork/contracts";
import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import { HttpProblem } from "../errors.ts";
import { fieldWords } from "./field-words.ts";
import { escapePointer } from "./json-body.ts";

/** Checks parts of a request against their zod schemas; problems name every wrong field by a JSON Pointer. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data) => {
    // Fastify hands over an absent body as null.
    const parsed = schema.safeParse(data ?? undefined, { reportInput: true });
    return parsed.success ? { value: parsed.data } : { error: validationProblem(parsed.error, httpPart ?? "body") };
  };

/** Longest list of wrong fields in an answer: a body of junk must not get a larger one back. */
const MOST_FIELDS = 100;

/** The problem for a failed parse of `part` (`body`, `querystring`, `form`). */
export function validationProblem(error: z.ZodError, part: string): HttpProblem {
  const errors = error.issues.flatMap((issue) => fieldProblems(issue, []));
  const unknown = part === "querystring" && errors.every((field) => field.code === "unknown_field");
  const [first] = errors;
  const detail = first === undefined ? "The request is not valid." : sentence(first);
  const code = unknown ? "UNKNOWN_PARAMETER" : "VALIDATION_FAILED";
  return new HttpProblem(code, detail, { errors: errors.slice(0, MOST_FIELDS) });
}

type Issue = z.core.$ZodIssue;

function fieldProblems(issue: Issue, parent: readonly PropertyKey[]): FieldProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      pointer: pointerOf([...path, key]),
      code: "unknown_field",
      ...fieldWords(issue),
    }));
  }
  if (issue.code === "invalid_union") {
    const closest = closestBranch(issue.errors);
    if (closest.length > 0) return closest.flatMap((inner) => fieldProblems(inner, path));
  }
  return [{ pointer: pointerOf(path), code: fieldCode(issue), ...fieldWords(issue) }];
}

/** The form the caller most likely meant: the one whose problems lie deepest, which fits on the outside. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map((issue) => issue.path.length));
  const fitting = branches.filter((issues) => !issues.some((issue) => issue.path.length === 0 && isWrongType(issue)));
  return [...fitting].sort((left, right) => depth(right) - depth(left))[0] ?? [];
}

function isWrongType(issue: Issue): boolean {
  return issue.code === "invalid_type";
}

function fieldCode(issue: Issue): string {
  if (issue.code === "invalid_type" && issue.input === undefined) return "required";
  return issue.code === "custom" ? "invalid" : issue.code;
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${escapePointer(String(key))}`).join("");
}

function sentence(field: FieldProblem): string {
  return `${field.pointer === "" ? "The request" : field.pointer}: ${field.message}.`;
}
