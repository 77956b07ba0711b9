import { expect, test } from "vitest";
import { z } from "zod";
import { fieldWords } from "./field-words.ts";

const wordsFor = (schema: z.ZodType, input: unknown) => {
  const issue = schema.safeParse(input, { reportInput: true }).error?.issues[0];
  if (issue === undefined) throw new Error("the schema takes it");
  return fieldWords(issue);
};

test("a type that has a name in JSON is called by it", () => {
  expect(wordsFor(z.array(z.string()), "x")).toEqual({ message: "must be a list", fix: "Send a list." });
});

test("a type without one still makes a sentence", () => {
  expect(wordsFor(z.bigint(), "x")).toEqual({
    message: "must be a value of another type",
    fix: "Send a value of another type.",
  });
});
