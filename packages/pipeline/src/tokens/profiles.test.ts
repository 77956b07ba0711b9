import { describe, expect, it } from "vitest";
import { REAL_TEXTS } from "../testing/token-texts.ts";
import { tokenizerFile } from "../testing/tokenizer-file.ts";
import { VOCABULARY_COUNTS } from "../testing/vocabulary-counts.ts";
import { modelFacts } from "./models.ts";
import { PROFILES, profileFor } from "./profiles.ts";
import { tokenizerProfile } from "./tokenizer-profile.ts";

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

  it.each([
    ["meta-llama/Llama-3.1-8B-Instruct", "estimate:llama-3"],
    ["llama3.2:3b", "estimate:llama-3"],
    ["Qwen/Qwen3-32B", "estimate:qwen"],
    ["qwq-32b", "estimate:qwen"],
    ["deepseek-reasoner", "estimate:deepseek"],
    ["deepseek-r1-distill-llama-70b", "estimate:llama-3"],
    ["deepseek-r1-distill-qwen-32b", "estimate:qwen"],
    ["mistralai/Mistral-Large-Instruct", "estimate:mistral"],
    ["open-mixtral-8x22b", "estimate:mistral"],
    ["claude-3-5-haiku", "estimate:claude"],
    ["google/gemini-2.5-flash", "estimate:gemini"],
    ["openai/gpt-oss-120b", "openai:o200k_base"],
    ["llama-2-70b", "estimate:generic"],
  ])("counts %s as %s", (model, id) => {
    expect(profileFor(model).id).toBe(id);
  });

  it("prefers a supplied tokenizer, for the models it names", () => {
    const file = tokenizerFile({ preTokeniser: "cl100k, one digit", merges: "one" });
    const supplied = tokenizerProfile({ id: "tokenizer:qwen", version: 1, models: ["Qwen/Qwen3-8B"], file });
    expect(profileFor("qwen/qwen3-8b", [supplied])).toBe(supplied);
    expect(supplied).toMatchObject({ approximate: false, framing: { perMessage: 4 } });
    expect(supplied.countText("1234")).toBe(4);
    expect(profileFor("qwen3-32b", [supplied]).id).toBe("estimate:qwen");
  });

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

describe("an estimate", () => {
  const families = Object.entries(VOCABULARY_COUNTS);
  const texts = Object.keys(REAL_TEXTS) as (keyof typeof REAL_TEXTS)[];

  it.each(families)("is not below what the vocabulary of %s counts, in any script, code or JSON", (family, counts) => {
    const profiles = [PROFILES[`estimate:${family as keyof typeof VOCABULARY_COUNTS}`], PROFILES["estimate:generic"]];
    for (const { id, countText } of profiles) {
      for (const text of texts) {
        const estimate = countText(REAL_TEXTS[text]);
        // The margin of an approximate count is 5 %.
        expect(estimate * 1.05, `${id} of ${text}`).toBeGreaterThanOrEqual(counts[text]);
      }
    }
  });

  it.each(families)("of %s is at most 1.7 times too high where most of its users are", (family, counts) => {
    const { countText } = PROFILES[`estimate:${family as keyof typeof VOCABULARY_COUNTS}`];
    for (const text of ["english", "russian", "chinese", "japanese", "code", "json"] as const)
      expect(countText(REAL_TEXTS[text]), text).toBeLessThanOrEqual(counts[text] * 1.7);
  });

  it("counts digits one by one, where a vocabulary may do so", () => {
    for (const model of ["qwen3-8b", "mistral-large", "gemini-2.5-pro", "some-new-model"])
      expect(profileFor(model).countText("1234567890".repeat(30))).toBeGreaterThanOrEqual(300);
  });

  it("never costs less than the exact count of o200k for Latin text", () => {
    for (const profile of Object.values(PROFILES).filter(({ approximate }) => approximate))
      expect(profile.countText(REAL_TEXTS.english)).toBeGreaterThan(profileFor("gpt-4o").countText(REAL_TEXTS.english));
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
