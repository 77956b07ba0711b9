import { describe, expect, test } from "vitest";
import { detectFormat } from "./detect-format.ts";
import { fixtureFile, sampleFile, samplesArePresent } from "./testing/files.ts";
import { png } from "./testing/png.ts";
import { bytesOf } from "./testing/thrown.ts";

const pretty = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value, null, 2));

test.each([
  ["a PNG", png(), "card-png"],
  ["a V1 card", pretty({ name: "A", first_mes: "" }), "card-json"],
  ["a Pygmalion card", pretty({ char_name: "A", char_persona: "" }), "card-json"],
  ["a V3 card that embeds a book", bytesOf({ spec: "chara_card_v3", data: { name: "A" }, entries: {} }), "card-json"],
  ["a card without its data", bytesOf({ spec: "chara_card_v3", name: "A" }), "card-json"],
  ["a world-info file with a name", pretty({ name: "B", entries: {} }), "lorebook-json"],
  ["a book as a list", pretty({ entries: [] }), "lorebook-json"],
  ["a lorebook_v3", bytesOf({ spec: "lorebook_v3", data: { entries: [] } }), "lorebook-json"],
  ["another engine's lorebook", bytesOf({ type: "risu", data: [] }), "lorebook-json"],
  ["a chat of one line", bytesOf({ name: "A", mes: "x" }), "chat-jsonl"],
  ["a chat with a broken header", bytesOf('{"user_na\n{"mes":"x"}\n'), "chat-jsonl"],
  ["a card with a byte order mark", bytesOf('\uFEFF{"name":"A","scenario":""}'), "card-json"],
  ["JSON that is broken", bytesOf(' {"name": "A",,'), "card-json"],
  ["an OpenAI chat", bytesOf({ messages: [{ role: "user", content: "x" }] }), null],
  ["a JSON list", bytesOf("[1]"), null],
  ["plain text", bytesOf("hello"), null],
  ["nothing", new Uint8Array(), null],
])("%s is %s", (_, bytes, format) => {
  expect(detectFormat(bytes)).toBe(format);
});

test("the name decides only what the content cannot", () => {
  expect(detectFormat(bytesOf("broken"), "Chat.JSONL")).toBe("chat-jsonl");
  expect(detectFormat(bytesOf("broken"), "card.png")).toBe("card-png");
  expect(detectFormat(png(), "lore.json")).toBe("card-png");
});

test("both chat samples are chats", () => {
  for (const name of ["chat-st-1.19.synthetic.jsonl", "chat-st-legacy.synthetic.jsonl"]) {
    expect(detectFormat(fixtureFile(name))).toBe("chat-jsonl");
  }
});

describe.skipIf(!samplesArePresent)("real files (skipped: ../shared is absent)", () => {
  test.each([
    ["default_Seraphina.png", "card-png"],
    ["hazel.card.json", "card-json"],
    ["eldoria-1.19.world.json", "lorebook-json"],
    ["eldoria-1.12.6.world.json", "lorebook-json"],
    ["vesper.world.json", "lorebook-json"],
    ["instruct-chatml.json", null],
    ["preset-openai-default.json", null],
  ])("%s is %s", (name, format) => {
    expect(detectFormat(sampleFile(name))).toBe(format);
  });
});
