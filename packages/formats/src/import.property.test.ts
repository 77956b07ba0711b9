import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCard } from "./cards/read-card.ts";
import { readChatJsonl } from "./chats/read-chat-jsonl.ts";
import { detectFormat } from "./detect-format.ts";
import { ImportError } from "./errors.ts";
import { readLorebook } from "./lorebooks/read-lorebook.ts";
import { fixtureFile } from "./testing/files.ts";
import { packed, png, tEXt } from "./testing/png.ts";
import { bytesOf } from "./testing/thrown.ts";

const RUNS = { seed: 20_260_301, numRuns: 300 };
const READERS = [readCard, readLorebook, readChatJsonl];

/** Runs every reader; the property is that nothing but an import error comes out, and it comes at once. */
function readAll(bytes: Uint8Array): void {
  detectFormat(bytes);
  for (const read of READERS) {
    try {
      read(bytes);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
    }
  }
}

/** Bytes of a valid file with some of them changed, cut out or repeated. */
function mutated(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({ at: fc.nat(bytes.length - 1), remove: fc.nat(8), insert: fc.uint8Array({ maxLength: 8 }) });
  return fc
    .array(edit, { minLength: 1, maxLength: 6 })
    .map((edits) =>
      edits.reduce<Uint8Array>(
        (file, { at, remove, insert }) => Buffer.concat([file.subarray(0, at), insert, file.subarray(at + remove)]),
        bytes,
      ),
    );
}

const book = { name: "b", entries: [{ keys: ["a", "/b/i"], content: "c", extensions: { position: 4 } }] };
const card = {
  spec: "chara_card_v3",
  data: { name: "N", tags: ["t"], character_book: book, extensions: { world: "w" } },
};

test("random bytes are refused, never fatal", () => {
  expect(() => fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), readAll), RUNS)).not.toThrow();
});

test.each([
  ["PNG", png(tEXt("chara", packed(card)), tEXt("ccv3", packed(card)))],
  ["card", bytesOf(card)],
  ["lorebook", bytesOf(book)],
  ["chat", fixtureFile("chat-st-1.19.synthetic.jsonl")],
])("a damaged %s is refused or read, never fatal", (_, bytes) => {
  expect(() => fc.assert(fc.property(mutated(bytes), readAll), RUNS)).not.toThrow();
});

/** Any JSON value where the format has one of its own. */
const anyJson = fc.jsonValue({ maxDepth: 3 });
const objectOf = (...keys: readonly string[]): fc.Arbitrary<object> =>
  fc.record(Object.fromEntries(keys.map((key) => [key, anyJson])), { requiredKeys: [] });

test("cards of any types inside never break the character's shape", () => {
  const data = objectOf(
    "description",
    "tags",
    "alternate_greetings",
    "extensions",
    "character_book",
    "nickname",
    "assets",
  );
  fc.assert(
    fc.property(data, objectOf("name", "creatorcomment", "character_book"), (fields, root) => {
      const { character } = readCard(bytesOf({ ...root, spec: "chara_card_v2", data: { ...fields, name: "N" } }));
      const { tags, alternateGreetings, ...texts } = character;
      expect([...tags, ...alternateGreetings, ...Object.values(texts)].every((text) => typeof text === "string")).toBe(
        true,
      );
    }),
    RUNS,
  );
});

test("entries of any types inside give unique numbers and keep every source", () => {
  const entry = fc.oneof(
    anyJson,
    objectOf("uid", "key", "keysecondary", "position", "role", "order", "disable", "probability", "characterFilter"),
    objectOf("id", "keys", "enabled", "insertion_order", "extensions", "use_regex", "comment"),
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
      const read = readLorebook(bytesOf({ entries }));
      const skipped = read.warnings.filter(({ code }) => code === "entry_skipped").length;
      expect(new Set(read.entries.map(({ uid }) => uid)).size).toBe(entries.length - skipped);
      expect(read.entrySources).toHaveLength(read.entries.length);
    }),
    RUNS,
  );
});

test("messages of any types inside keep the shown text among the variants and pair every call", () => {
  const line = objectOf("name", "is_user", "is_system", "send_date", "swipes", "swipe_id", "extra");
  const invocations = fc.record({ tool_invocations: fc.array(objectOf("id", "name", "parameters", "result")) });
  fc.assert(
    fc.property(line, anyJson, fc.option(invocations), (values, mes, extra) => {
      const { messages } = readChatJsonl(bytesOf({ ...values, ...(extra === null ? {} : { extra }), mes }));
      expect(messages.every((message) => message.variants[message.activeVariant] === message.content)).toBe(true);
      const calls = messages.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
      expect(messages.flatMap(({ toolCallId }) => toolCallId ?? [])).toEqual(calls);
    }),
    RUNS,
  );
});
