import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type IssueOf<Code extends Issue["code"]> = Extract<Issue, { readonly code: Code }>;

/** What is wrong with a field and what to send instead, for somebody who has never seen the schema. */
export interface FieldWords {
  /** Goes on behind the field's name, without a full stop. */
  readonly message: string;
  readonly fix: string;
}

/** The words for an issue. A schema's own message stands; the library's never does: it speaks of types, not of fields. */
export function fieldWords(issue: Issue): FieldWords {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue);
    case "too_small":
      return outOfBounds(issue.origin, "at least", issue.minimum);
    case "too_big":
      return outOfBounds(issue.origin, "at most", issue.maximum);
    case "invalid_value":
      return { message: "is none of the values known here", fix: `Send ${listed(issue.values)}.` };
    case "not_multiple_of":
      return { message: `must be a multiple of ${issue.divisor}`, fix: `Send a multiple of ${issue.divisor}.` };
    case "invalid_format":
      return wrongFormat(issue);
    case "unrecognized_keys":
      return { message: "is not known here", fix: "Remove it, or correct its spelling." };
    case "invalid_key":
    case "invalid_element":
      return nested(issue.issues);
    case "invalid_union":
      return { message: "has none of the forms taken here", fix: "Send it in a form that the documentation shows." };
    case "custom":
      return { message: issue.message, fix: ownFix(issue) ?? `Correct it: ${issue.message}.` };
  }
}

/** As types are called in JSON. A number out of a query is one that could not be read as such. */
const TYPES: { readonly [expected: string]: string } = {
  string: "a text",
  number: "a number",
  nan: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function wrongType({ expected, input }: IssueOf<"invalid_type">): FieldWords {
  const type = TYPES[expected] ?? "a value of another type";
  if (input === undefined) return { message: "is required", fix: `Add it: ${type}.` };
  return { message: `must be ${type}`, fix: `Send ${type}.` };
}

const UNITS: { readonly [origin: string]: string } = {
  string: " characters",
  array: " entries",
  set: " entries",
  record: " keys",
  file: " bytes",
};

function outOfBounds(origin: string, bound: "at least" | "at most", limit: number | bigint): FieldWords {
  const unit = UNITS[origin];
  const range = `${bound} ${limit}${unit ?? ""}`;
  if (unit === undefined) return { message: `must be ${range}`, fix: `Send ${range}.` };
  if (bound === "at least" && Number(limit) === 1) return { message: "must not be empty", fix: `Send ${range}.` };
  return { message: `must have ${range}`, fix: `Send ${range}.` };
}

const FORMATS: { readonly [format: string]: string } = {
  datetime: "a time in UTC like 2026-01-31T12:00:00Z",
  url: "a URL like https://example.org/v1",
  base64: "base64",
  email: "an e-mail address",
};

function wrongFormat({ format, message }: IssueOf<"invalid_format">): FieldWords {
  const form = FORMATS[format];
  if (form !== undefined) return { message: `must be ${form}`, fix: `Send ${form}.` };
  const own = /^(Invalid|Too) /.test(message) ? "does not have the form that is taken here" : message;
  return { message: own, fix: `Correct it: ${own}.` };
}

/** A schema says it with `params: { fix }`. */
function ownFix({ params }: IssueOf<"custom">): string | null {
  const fix: unknown = params?.["fix"];
  return typeof fix === "string" ? fix : null;
}

function nested([first]: readonly Issue[]): FieldWords {
  return first === undefined ? { message: "cannot be taken", fix: "Leave it out." } : fieldWords(first);
}

function listed(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value));
  return names.length === 1 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
