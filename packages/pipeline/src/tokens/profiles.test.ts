import { describe, expect, it } from "vitest";
import { modelFacts } from "./models.ts";
import { PROFILES, profileFor } from "./profiles.ts";

describe("profileFor", () => {
  it.each([
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4o-2024-08-06",
    "chatgpt-4o-latest",
    "gpt-4.1-nano",
    "gpt-5-mini",
    "o1-mini",
    "o3",
    "o4-mini",
    "ft:gpt-4o-mini:org::id",
    "openai/gpt-4o",
    "echo",
  ])("counts %s exactly with o200k", (model) => {
    expect(profileFor(model).id).toBe("openai:o200k_base");
  });

  it.each(["gpt-4", "gpt-4-0613", "gpt-4-turbo", "gpt-4-turbo-preview", "gpt-3.5-turbo-16k", "gpt-35-turbo"])(
    "counts %s exactly with cl100k",
    (model) => {
      expect(profileFor(model).id).toBe("openai:cl100k_base");
    },
  );

  it("estimates unknown models high and says so", () => {
    const text = "The keeper climbs the stairs every evening at dusk.";
    const exact = profileFor("gpt-4o").countText(text);
    const estimate = profileFor("some-new-model");
    expect(estimate.approximate).toBe(true);
    expect(estimate.countText(text)).toBe(Math.ceil(exact * 1.25));
  });

  it("raises the estimate for scripts that cost more on Claude", () => {
    const claude = profileFor("claude-sonnet-4");
    const exact = (text: string) => PROFILES["openai:o200k_base"].countText(text);
    const cyrillic = "Прилив поднимается медленно и тихо";
    expect(claude.countText(cyrillic)).toBe(Math.ceil(exact(cyrillic) * 1.9));
    expect(claude.countText("潮が満ちる")).toBe(Math.ceil(exact("潮が満ちる") * 1.31));
    expect(claude.countText("plain words")).toBe(Math.ceil(exact("plain words") * 1.25));
  });
});

describe("every profile", () => {
  it.each(Object.values(PROFILES))("$id costs 0 for no text, never throws, and grows with text", (profile) => {
    expect(profile.countText("")).toBe(0);
    expect(profile.countText("<|endoftext|> \uD800")).toBeGreaterThan(3);
    expect(profile.countText("one two three")).toBeGreaterThan(profile.countText("one"));
    expect(PROFILES[profile.id as keyof typeof PROFILES]).toBe(profile);
  });
});

describe("modelFacts", () => {
  it("knows windows by the longest prefix", () => {
    expect(modelFacts("gpt-4o-mini-2024-07-18")).toEqual({ contextLimit: 128_000, maxOutputTokens: 16_384 });
    expect(modelFacts("gpt-4-turbo").contextLimit).toBe(128_000);
    expect(modelFacts("gpt-4-0613").contextLimit).toBe(8_192);
    expect(modelFacts("anthropic/claude-3-5-sonnet").maxOutputTokens).toBe(8_192);
  });

  it("does not guess", () => {
    expect(modelFacts("o11")).toEqual({ contextLimit: null, maxOutputTokens: null });
    expect(modelFacts("my-model")).toEqual({ contextLimit: null, maxOutputTokens: null });
  });
});
