import { expect, test } from "vitest";
import { chooseSummarizer } from "./choose-summarizer.ts";
import { encodeId } from "./ids.ts";

const own = { id: "01890000-0000-7000-8000-000000000001", models: [] };
const cheap = {
  id: "01890000-0000-7000-8000-000000000002",
  models: [
    { model: "small", contextLimit: 4_096, maxOutputTokens: null },
    { model: "mini", contextLimit: null, maxOutputTokens: null },
  ],
};
const choose = (summarizer?: object) =>
  chooseSummarizer({ model: "gpt-4o", strategyOptions: summarizer === undefined ? {} : { summarizer } }, own, [
    own,
    cheap,
  ]);
const cheapId = encodeId("provider", cheap.id);

test("nobody named: the generation's own provider and model", () => {
  expect(choose()).toEqual({ id: `${own.id}/gpt-4o`, provider: own, model: "gpt-4o", contextLimit: 128_000 });
});

test("a model alone is one of the generation's provider; its window may be unknown", () => {
  expect(choose({ model: "mystery" })).toMatchObject({ provider: own, model: "mystery", contextLimit: null });
});

test("a provider alone stands for its first model", () => {
  expect(choose({ providerId: cheapId })).toMatchObject({ provider: cheap, model: "small", contextLimit: 4_096 });
  expect(choose({ providerId: cheapId, model: "mini" })).toMatchObject({ provider: cheap, model: "mini" });
});

test("a provider that is not there, is no id, or lists no model is nobody", () => {
  expect(choose({ providerId: encodeId("provider", "01890000-0000-7000-8000-000000000003") })).toBeNull();
  expect(choose({ providerId: "nonsense" })).toBeNull();
  expect(choose({ providerId: encodeId("provider", own.id) })).toBeNull();
});
