import { describe, expect, test } from "vitest";
import { fixtureFile } from "../testing/files.ts";
import { bytesOf, importErrorOf } from "../testing/thrown.ts";
import { readChatJsonl, type ChatImport } from "./read-chat-jsonl.ts";

const HEADER = { user_name: "Max", character_name: "Mira", chat_metadata: {} };
const chat = (...lines: readonly (object | string)[]): ChatImport =>
  readChatJsonl(bytesOf(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")));
const message = (values: object = {}): object => ({ name: "Mira", is_user: false, mes: "Hi", ...values });
const codesOf = ({ warnings }: ChatImport): readonly string[] => warnings.map(({ code }) => code);

describe("a current file", () => {
  const read = readChatJsonl(fixtureFile("chat-st-1.19.synthetic.jsonl"));

  test("placeholder names in the header are replaced by the speakers", () => {
    expect(read).toMatchObject({ userName: "Max", characterName: "Mira", createdAt: "2026-03-01T10:00:00.000Z" });
    expect(read.metadata).toMatchObject({ chat_metadata: { chat_id_hash: 4821 }, user_name: "unused" });
  });

  test("roles, hidden rows, the narrator and the tool call come out in order", () => {
    expect(read.messages.map(({ role, content, hidden, optional }) => [role, content, hidden, optional])).toEqual([
      ["assistant", "The lamp is lit. Come in, Max.", false, false],
      ["user", "Who else is here?", false, false],
      ["assistant", "Only the cat.", false, false],
      ["user", "(hidden from the prompt)", true, false],
      ["system", "Rain starts to fall.", false, true],
      ["assistant", "", false, false],
      ["tool", "wet", false, false],
      ["user", "Look at this.\nПривет 🌧", false, false],
    ]);
  });

  test("the greeting keeps its variants and the one chosen", () => {
    expect(read.messages[0]).toMatchObject({
      variants: ["The door is locked.", "The lamp is lit. Come in, Max."],
      activeVariant: 1,
      line: 2,
    });
  });

  test("the call and its result are linked by id", () => {
    expect(read.messages[5]?.toolCalls).toEqual([{ id: "call_1", name: "get_weather", arguments: '{"city":"Rain"}' }]);
    expect(read.messages[6]).toMatchObject({ toolCallId: "call_1", name: "get_weather", toolCalls: [] });
  });

  test("what no prompt will show is named with its place", () => {
    const places = read.warnings
      .filter(({ code }) => code === "feature_unsupported")
      .map(({ line, path }) => [line, path]);
    expect(places).toEqual([
      [1, "/chat_metadata/note_prompt"],
      [1, "/chat_metadata/world_info"],
      [1, "/chat_metadata/timedWorldInfo"],
      [1, "/chat_metadata/variables"],
      [1, "/chat_metadata/persona"],
      [4, "/extra/reasoning"],
      [8, "/extra/media"],
    ]);
  });
});

describe("an old file", () => {
  const read = readChatJsonl(fixtureFile("chat-st-legacy.synthetic.jsonl"));

  test("byte order mark, CRLF, an empty and a broken line leave three messages", () => {
    expect(read.messages.map(({ name, content, createdAt }) => [name, content, createdAt])).toEqual([
      ["Mira", "Hello.", "2023-05-03T14:22:10.120Z"],
      ["Max", "Hi!", "2023-05-03T14:22:11.000Z"],
      ["Mira", "How are you?", "2023-06-19T14:20:00.000Z"],
    ]);
    expect(read).toMatchObject({ userName: "Max", characterName: "Mira", createdAt: "2023-05-03T14:22:10.120Z" });
  });

  test("the broken line is named", () => {
    expect(read.warnings).toContainEqual(expect.objectContaining({ code: "line_skipped", line: 3 }));
  });
});

describe("lines that cannot be read", () => {
  test("a last line broken off does not lose the chat", () => {
    const read = chat(HEADER, message(), '{"name":"Mira","mes":"Ha');
    expect(read.messages).toHaveLength(1);
    expect(read.warnings).toMatchObject([{ code: "line_truncated", line: 3 }]);
  });

  test("objects that are no message are skipped and named", () => {
    const read = chat(HEADER, message(), HEADER, "[]", { role: "user", content: "x" });
    expect(read.warnings).toMatchObject([3, 4, 5].map((line) => ({ code: "line_skipped", line })));
  });

  test("a line nested too deeply is skipped by the limit's name", () => {
    const read = chat(HEADER, message(), `{"mes":"x","extra":${"[".repeat(70)}${"]".repeat(70)}}`);
    expect(read.warnings).toMatchObject([{ code: "line_skipped", message: expect.stringContaining("jsonDepth") }]);
  });

  test("a file without a header is read and says so", () => {
    const read = chat(message(), message({ name: "Max", is_user: true }));
    expect(read).toMatchObject({ userName: "Max", characterName: "Mira", metadata: null });
    expect(codesOf(read)).toEqual(["header_missing"]);
  });

  test.each(["", "not json", JSON.stringify(HEADER)])("a file without a message is refused: %j", (text) => {
    expect(importErrorOf(() => readChatJsonl(bytesOf(text))).reason).toBe("no_messages");
  });

  test("characters no database stores are replaced", () => {
    const read = chat(HEADER, String.raw`{"mes":"a\u0000\udfff"}`);
    expect(read.messages[0]?.content).toBe("a\uFFFD\uFFFD");
    expect(read.warnings).toMatchObject([{ code: "text_repaired", line: 2, path: "/mes" }]);
  });

  test("a date of no known form is left out and named", () => {
    const read = chat(HEADER, message({ send_date: "once" }));
    expect(read.messages[0]?.createdAt).toBeNull();
    expect(read.warnings).toMatchObject([{ code: "date_invalid", line: 2, path: "/send_date" }]);
  });
});

describe("variants", () => {
  test("Chub's objects are flattened", () => {
    const read = chat(
      HEADER,
      message({ mes: { message: "Hello." }, swipes: [{ message: "Hello." }, "Alt."], swipe_id: 0 }),
    );
    expect(read.messages[0]).toMatchObject({ content: "Hello.", variants: ["Hello.", "Alt."], activeVariant: 0 });
    expect(read.warnings).toEqual([]);
  });

  test.each([
    ["being generated", ["A", "B"], 2],
    ["edited elsewhere", ["A", "B"], 1],
    ["without a number", ["A", "B"], null],
  ])("a text shown that is not in the list is added (%s)", (_, swipes, swipe_id) => {
    const read = chat(HEADER, message({ swipes, swipe_id }));
    expect(read.messages[0]).toMatchObject({ content: "Hi", variants: ["A", "B", "Hi"], activeVariant: 2 });
    expect(codesOf(read)).toEqual(["variant_repaired"]);
  });

  test("a variant that is no text is dropped without moving the chosen one", () => {
    const read = chat(HEADER, message({ swipes: [7, "A", "Hi"], swipe_id: 2 }));
    expect(read.messages[0]).toMatchObject({ variants: ["A", "Hi"], activeVariant: 1, content: "Hi" });
    expect(read.warnings).toMatchObject([{ code: "value_dropped", path: "/swipes/0" }]);
  });
});

describe("tool calls", () => {
  const row = (invocations: unknown): ChatImport => chat(HEADER, message({ extra: { tool_invocations: invocations } }));

  test("each call of a row has one result, whatever its ids", () => {
    const read = row([{ id: "a", name: "f", result: 1 }, { id: "a", name: "g", parameters: { x: 1 } }, {}]);
    expect(read.messages[0]?.toolCalls).toEqual([
      { id: "a", name: "f", arguments: "{}" },
      { id: "call_line2_1", name: "g", arguments: '{"x":1}' },
      { id: "call_line2_2", name: "unknown_tool", arguments: "{}" },
    ]);
    expect(read.messages.slice(1).map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ["a", "1"],
      ["call_line2_1", ""],
      ["call_line2_2", ""],
    ]);
  });

  test("an empty list makes an ordinary message", () => {
    expect(row([]).messages).toMatchObject([{ role: "assistant", content: "Hi" }]);
  });
});

describe("limits", () => {
  test.each([
    ["chatFileBytes", () => new Uint8Array(64 * 1024 * 1024 + 1)],
    ["chatLines", () => Buffer.alloc(100_001, "\n")],
    ["chatLineBytes", () => Buffer.alloc(8 * 1024 * 1024 + 1, " ")],
  ])("above %s the error names it", (limit, make) => {
    const error = importErrorOf(() => readChatJsonl(make()));
    expect(error.reason).toBe("limit_exceeded");
    expect(error.message).toContain(limit);
  });

  test("the line above the limit is named", () => {
    expect(importErrorOf(() => readChatJsonl(Buffer.alloc(100_001, "\n"))).line).toBe(100_001);
  });
});
