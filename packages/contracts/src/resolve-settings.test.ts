import { expect, test } from "vitest";
import { resolveSettings, type SettingsLayers } from "./resolve-settings.ts";

const base: SettingsLayers = {
  request: { parameters: {}, tools: [], budget: {}, strategyOptions: {}, now: "2026-01-01T00:00:00.000Z" },
  row: { action: "reply", model: "gpt-4o", strategy: "truncate", seed: "s" },
  chat: {},
  character: {},
  tenant: {},
  provider: { models: [] },
};

test("nothing chosen leaves window and reserve to the model", () => {
  expect(resolveSettings(base)).toMatchObject({
    budget: { contextLimit: undefined, reservedForReply: undefined },
    modelFacts: { contextLimit: 128_000 },
    mainPrompt: null,
    seed: "s",
  });
});

test("the request wins over the chat, the chat over the character, the character over the tenant", () => {
  const tenant = { contextLimit: 4_000, reservedForReply: 400 };
  const character = { contextLimit: 3_000, reservedForReply: 300 };
  const chat = { contextLimit: 2_000, reservedForReply: 200 };
  const request = { ...base.request, budget: { contextLimit: 1_000, reservedForReply: 100 } };
  const budgetOf = (layers: Partial<SettingsLayers>) => resolveSettings({ ...base, ...layers }).budget;
  expect(budgetOf({ tenant })).toEqual(tenant);
  expect(budgetOf({ tenant, character })).toEqual(character);
  expect(budgetOf({ tenant, character, chat })).toEqual(chat);
  expect(budgetOf({ tenant, character, chat, request })).toEqual(request.budget);
  expect(budgetOf({ tenant, character: { contextLimit: 3_000 } })).toEqual({
    contextLimit: 3_000,
    reservedForReply: 400,
  });
});

test("strategy options of all levels are joined, the nearest wins option by option", () => {
  const options = resolveSettings({
    ...base,
    tenant: { strategyOptions: { a: "tenant", b: "tenant", c: "tenant", d: "tenant" } },
    character: { strategyOptions: { b: "character", c: "character", d: "character" } },
    chat: { strategyOptions: { c: "chat", d: "chat" } },
    request: { ...base.request, strategyOptions: { d: "request" } },
  }).strategyOptions;
  expect(options).toEqual({ a: "tenant", b: "character", c: "chat", d: "request" });
});

test("maxTokens stands between the request's reserve and the standing ones", () => {
  const request = { ...base.request, parameters: { maxTokens: 50 } };
  expect(
    resolveSettings({ ...base, request, tenant: { reservedForReply: 300 } }).budget.reservedForReply,
  ).toBeUndefined();
});

test("a standing window narrows a model's and never widens it; a request's own is left to be checked", () => {
  const tenant = { contextLimit: 1_000_000 };
  expect(resolveSettings({ ...base, tenant }).budget.contextLimit).toBe(128_000);
  const request = { ...base.request, budget: { contextLimit: 1_000_000 } };
  expect(resolveSettings({ ...base, request }).budget.contextLimit).toBe(1_000_000);
});

test("the provider's kind decides the shape of the request", () => {
  const wireOf = (kind: string) => resolveSettings({ ...base, provider: { kind, models: [] } }).wire;
  expect(wireOf("openai-compatible-text")).toEqual({ shape: "text", format: "chatml" });
  for (const kind of ["openai-compatible", "echo", "constructor"]) expect(wireOf(kind)).toEqual({ shape: "chat" });
});

test("the provider's model list wins over the built-in table, field by field", () => {
  const provider = { models: [{ model: "gpt-4o", contextLimit: 8_192, maxOutputTokens: null }] };
  expect(resolveSettings({ ...base, provider }).modelFacts).toEqual({ contextLimit: 8_192, maxOutputTokens: 16_384 });
  const row = { ...base.row, model: "mystery" };
  expect(resolveSettings({ ...base, row }).modelFacts).toEqual({ contextLimit: null, maxOutputTokens: null });
});

test("a strict endpoint's model has its messages post-processed as its provider's list says, another has not", () => {
  const models = [{ model: "strict-1", contextLimit: 8_192, maxOutputTokens: null, postProcessing: "strict" as const }];
  const modeOf = (model: string) =>
    resolveSettings({ ...base, row: { ...base.row, model }, provider: { models } }).postProcessing;
  expect([modeOf("strict-1"), modeOf("gpt-4o")]).toEqual(["strict", undefined]);
});
