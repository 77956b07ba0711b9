import { encodeId } from "@shiftwork/contracts";
import type { ProviderRow } from "@shiftwork/db";
import type { AssemblySettings } from "@shiftwork/pipeline";
import { expect, test } from "vitest";
import { requireSummarizer } from "./require-summarizer.ts";

const own: ProviderRow = {
  id: "01890000-0000-7000-8000-000000000001",
  name: "own",
  kind: "echo",
  baseUrl: "",
  secret: null,
  allowPrivateNetwork: false,
  models: [],
};
const check = (contextStrategy: string, strategyOptions: object) => () =>
  requireSummarizer({ contextStrategy, strategyOptions, model: "m" } as unknown as AssemblySettings, own, [own]);
const stranger = {
  summarizer: { providerId: encodeId("provider", "01890000-0000-7000-8000-000000000002"), model: "m" },
};

test("a provider of somebody else is refused where summaries are written, and not read elsewhere", () => {
  expect(check("compress", stranger)).toThrow(expect.objectContaining({ code: "VALIDATION_FAILED" }));
  expect(check("truncate", stranger)).not.toThrow();
});

test("nobody named, and the tenant's own provider with a model, are accepted", () => {
  expect(check("compress", {})).not.toThrow();
  expect(check("compress", { summarizer: { providerId: encodeId("provider", own.id), model: "m" } })).not.toThrow();
});
