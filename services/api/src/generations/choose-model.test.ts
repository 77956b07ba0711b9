import type { ProviderRow } from "@shiftwork/db";
import { expect, test } from "vitest";
import { HttpProblem } from "../errors.ts";
import { chooseModel } from "./choose-model.ts";

const one = provider("one", ["a", "b"]);
const two = provider("two", ["b", "c"]);

test("the only provider's first model answers when nothing is named", () => {
  expect(names(chooseModel([{}, {}, {}], [one]))).toEqual(["one", "a"]);
});

test("the request wins over the chat, the chat over the tenant", () => {
  expect(names(chooseModel([{ model: "x" }, { model: "y" }, { model: "z" }], [one]))).toEqual(["one", "x"]);
  expect(names(chooseModel([{}, { model: "y" }, { model: "z" }], [one]))).toEqual(["one", "y"]);
  expect(names(chooseModel([{}, {}, { model: "z" }], [one]))).toEqual(["one", "z"]);
});

test("a model chosen for another provider does not follow", () => {
  const chat = { providerId: "one", model: "a" };
  expect(names(chooseModel([{ providerId: "two" }, chat, {}], [one, two]))).toEqual(["two", "b"]);
});

test("the only provider that lists the model is meant", () => {
  expect(names(chooseModel([{ model: "c" }], [one, two]))).toEqual(["two", "c"]);
});

test.each([
  ["two providers list the model", [{ model: "b" }], [one, two], "MODEL_UNKNOWN", "/providerId"],
  ["there is no provider", [{}], [], "MODEL_UNKNOWN", "/providerId"],
  ["the provider lists no model", [{}], [provider("bare", [])], "MODEL_UNKNOWN", "/model"],
] as const)("%s: the problem names the field", (_case, levels, providers, code, pointer) => {
  const problem = refusal(() => chooseModel(levels, providers));
  expect([problem.code, problem.errors[0]?.pointer]).toEqual([code, pointer]);
});

test("a provider that is named and missing is not found", () => {
  expect(refusal(() => chooseModel([{ providerId: "three" }], [one])).code).toBe("PROVIDER_NOT_FOUND");
});

function names({ provider: { id }, model }: ReturnType<typeof chooseModel>): readonly string[] {
  return [id, model];
}

function provider(id: string, models: readonly string[]): ProviderRow {
  const listed = models.map((model) => ({ model, contextLimit: null, maxOutputTokens: null }));
  return { id, name: id, kind: "echo", baseUrl: "", secret: null, allowPrivateNetwork: false, models: listed };
}

function refusal(work: () => unknown): HttpProblem {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
