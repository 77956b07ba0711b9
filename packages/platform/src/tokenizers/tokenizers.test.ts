import { readFileSync } from "node:fs";
import { deflateSync, inflateSync } from "node:zlib";
import { TokenizerError } from "@shiftwork/pipeline";
import { describe, expect, it } from "vitest";
import { profileOfTurn } from "./profile-of-turn.ts";
import { createTokenizers } from "./tokenizers.ts";

const file = readFileSync(new URL("../../../pipeline/fixtures/tokenizer.json", import.meta.url));
const stored = { models: ["house-*"], file: deflateSync(file) };
const TEXT = "the thing is bathing";
// the · Ġ th ing · Ġ i s · Ġ b a th ing
const TOKENS = 12;

function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("tokenizers", () => {
  it("compile a stored one once, and count by it here and in a thread alike", async () => {
    const tokenizers = createTokenizers();
    let reads = 0;
    const find = () =>
      tokenizers.find("tenant", "tok_1", async () => {
        reads += 1;
        return stored;
      });
    const [ready, again] = await Promise.all([find(), find()]);
    expect(ready).toBe(again);
    expect(ready).toBe(await find());
    expect(reads).toBe(1);
    expect(ready?.profile).toMatchObject({ id: "tok_1", version: 1, approximate: false });
    expect(ready?.profile.matches("house-7b")).toBe(true);
    expect(ready?.profile.countText(TEXT)).toBe(TOKENS);
    expect(ready && (await tokenizers.count("tenant", ready.own, TEXT))).toEqual([TOKENS]);
    expect(ready?.profile.countText(TEXT)).toBe(TOKENS);
  });

  it("count messages one by one, with a built-in profile too", async () => {
    const messages = [
      { role: "user", content: "Hello there" },
      { role: "assistant", content: "Hi", name: "Ada" },
    ] as const;
    expect(await createTokenizers().count("tenant", "openai:o200k_base", messages)).toEqual([6, 7]);
  });

  it("look again for one that was not there, and for one whose read failed", async () => {
    const tokenizers = createTokenizers();
    expect(await tokenizers.find("tenant", "tok_1", async () => null)).toBe(null);
    const failed = tokenizers.find("tenant", "tok_1", async () => {
      throw new Error("away");
    });
    await expect(failed).rejects.toThrow("away");
    expect(await tokenizers.find("tenant", "tok_1", async () => stored)).not.toBe(null);
  });

  it("keep those that were asked for last", async () => {
    const tokenizers = createTokenizers();
    const reads: string[] = [];
    const find = (id: string) =>
      tokenizers.find("tenant", id, async () => {
        reads.push(id);
        return stored;
      });
    const ids = Array.from({ length: 8 }, (_, at) => `tok_${at}`);
    for (const id of [...ids, "tok_0", "tok_8", "tok_0", "tok_1"]) await find(id);
    expect(reads).toEqual([...ids, "tok_8", "tok_1"]);
  });

  it("store a checked file deflated, byte for byte", async () => {
    const checked = await createTokenizers().check("tenant", file);
    expect(inflateSync(checked).equals(file)).toBe(true);
    expect(checked.length).toBeLessThan(file.length);
  });

  it.each([
    ["", "what is no JSON", Buffer.from("{")],
    ["", "what is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
    ["/model/byte_fallback", "bytes as tokens of their own", changed({ byte_fallback: true })],
    ["/model/type", "another kind of model", changed({ type: "Unigram" })],
  ])("refuse, naming %j, %s", async (pointer, _what, bytes) => {
    const error = await thrownBy(createTokenizers().check("tenant", bytes));
    expect(error).toBeInstanceOf(TokenizerError);
    expect(error).toMatchObject({ pointer });
  });
});

describe("profileOfTurn", () => {
  const calibration = { version: 1, factor: 1.2 };
  const own = { ...notCalled(), countText: () => 1 };

  it("is the tenant's tokenizer, else the built-in one with what was learned", async () => {
    const counting = { tokenizerId: "t", calibration: null };
    expect(await profileOfTurn("claude-3", counting, async () => own)).toBe(own);
    const estimated = await profileOfTurn("claude-3", { tokenizerId: null, calibration }, async () => own);
    expect(estimated).toMatchObject({ id: "estimate:claude", calibration });
  });

  it("is the built-in one when the tokenizer is gone, and when nothing was decided", async () => {
    const gone = await profileOfTurn("claude-3", { tokenizerId: "t", calibration: null }, async () => null);
    expect(gone.id).toBe("estimate:claude");
    expect((await profileOfTurn("gpt-4o", undefined, async () => own)).id).toBe("openai:o200k_base");
  });

  function notCalled() {
    const framing = { perMessage: 0, perName: 0, priming: 0, toolCall: 0, toolResult: 0, toolDefinition: 0 };
    return { id: "tok_1", version: 1, approximate: false, families: [], framing, matches: () => true };
  }
});

function changed(model: object): Buffer {
  const parsed = JSON.parse(file.toString("utf8")) as { readonly model: object };
  return Buffer.from(JSON.stringify({ ...parsed, model: { ...parsed.model, ...model } }));
}
