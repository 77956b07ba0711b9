import { describe, expect, test } from "vitest";
import { fixtureFile, sampleFile, samplesArePresent } from "../testing/files.ts";
import { iTXt, packed, png, pngChunk, tEXt, zTXt } from "../testing/png.ts";
import { bytesOf, importErrorOf } from "../testing/thrown.ts";
import { readCard, type CardImport } from "./read-card.ts";

const v2 = (data: object, root: object = {}): Uint8Array => bytesOf({ spec: "chara_card_v2", ...root, data });
const codesOf = (card: CardImport): readonly string[] => card.warnings.map(({ code }) => code);
const pathsOf = (card: CardImport, code: string): readonly (string | null)[] =>
  card.warnings.filter((warning) => warning.code === code).map(({ path }) => path);

interface PngFixture {
  readonly name: string;
  readonly png: string;
  readonly expectedName: string | null;
}
const file = JSON.parse(Buffer.from(fixtureFile("card-png-fixtures.synthetic.json")).toString()) as {
  readonly fixtures: readonly PngFixture[];
};
const fixture = (name: string): Uint8Array =>
  Buffer.from(file.fixtures.find((one) => one.name === name)?.png ?? "", "base64");

/** The two optional leniencies are taken, for sites repackage pictures. */
const ACCEPTED_HERE: { readonly [name: string]: string } = { "zTXt-chara": "V2", "iTXt-chara": "V2" };
const REFUSALS: { readonly [name: string]: string } = {
  "raw-json-in-chara": "card_encoding",
  "not-base64": "card_encoding",
  "json-array-root": "root_not_object",
  "json-null-root": "root_not_object",
  "no-name": "name_missing",
  "spec-v3-without-data": "data_missing",
  "no-card": "card_missing",
  "crc-broken": "png_damaged",
  "no-IEND": "png_damaged",
  "chunk-length-past-end": "png_damaged",
  "not-a-png": "not_json",
};

describe("the 33 PNG fixtures", () => {
  test("there are 33", () => expect(file.fixtures).toHaveLength(33));

  const outcomes = file.fixtures.map(({ name, png: base64, expectedName }) => ({
    name,
    bytes: Buffer.from(base64, "base64"),
    accepted: expectedName ?? ACCEPTED_HERE[name] ?? null,
  }));

  test.each(outcomes.filter(({ accepted }) => accepted !== null))("$name is accepted", ({ bytes, accepted }) => {
    expect(readCard(bytes).character.name).toBe(accepted);
  });

  test.each(outcomes.filter(({ accepted }) => accepted === null))("$name is refused", ({ name, bytes }) => {
    expect(importErrorOf(() => readCard(bytes)).reason).toBe(REFUSALS[name]);
  });

  test.each(["empty-ccv3-good-chara", "broken-ccv3-good-chara"])("%s names the chunk it fell back from", (name) => {
    expect(codesOf(readCard(fixture(name)))).toContain("chunk_fallback");
  });

  test.each([
    ["two-chara-first-wins", "chunk_duplicate"],
    ["invalid-utf8", "text_repaired"],
    ["proto-pollution", "key_dropped"],
    ["future-version-3.1", "spec_newer"],
  ])("%s warns of %s", (name, code) => {
    expect(codesOf(readCard(fixture(name)))).toContain(code);
  });

  test("wrong types are coerced, each with a warning", () => {
    const card = readCard(fixture("wrong-types"));
    expect(card.character).toMatchObject({
      description: "",
      tags: ["a", "b"],
      alternateGreetings: ["one"],
      characterVersion: "2",
    });
    expect(pathsOf(card, "value_coerced")).toEqual([
      "/data/description",
      "/data/alternate_greetings",
      "/data/tags",
      "/data/character_version",
    ]);
    expect(pathsOf(card, "value_dropped")).toEqual(["/data/extensions"]);
  });

  test("prototype keys pollute nothing and are gone from the source", () => {
    const { source } = readCard(fixture("proto-pollution"));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(source as object)).not.toContain("__proto__");
    expect(Object.getPrototypeOf(source)).toBe(Object.prototype);
  });

  test("unknown keys survive in the source", () => {
    expect(readCard(fixture("future-version-3.1")).source).toMatchObject({
      data: { unknown_field: "keep me", new_field: [1], extensions: { other_app: { keep: 1 } } },
    });
  });
});

describe("text chunks", () => {
  const name = "Zoë 龍 🦊";
  const card = packed({ spec: "chara_card_v3", data: { name } });

  test.each([
    ["tEXt", tEXt("ccv3", card)],
    ["zTXt", zTXt("ccv3", card)],
    ["iTXt", iTXt("ccv3", card, false)],
    ["compressed iTXt", iTXt("ccv3", card, true)],
  ])("a card in %s keeps its UTF-8", (_, chunk) => {
    expect(readCard(png(iTXt("comment", "x", false), chunk)).character.name).toBe(name);
  });

  test("ccv3 in tEXt rules over chara in zTXt", () => {
    const older = zTXt("chara", packed({ spec: "chara_card_v2", data: { name: "older" } }));
    expect(readCard(png(older, tEXt("ccv3", card)))).toMatchObject({ spec: "v3", character: { name } });
  });

  test("a compressed chunk that inflates without end is refused by the limit's name", () => {
    const error = importErrorOf(() => readCard(png(zTXt("chara", Buffer.alloc(13 * 1024 * 1024)))));
    expect(error).toMatchObject({ code: "IMPORT_INVALID", reason: "limit_exceeded" });
    expect(error.message).toContain("chunkTextBytes");
  });

  test("broken compressed data is an encoding error", () => {
    const broken = pngChunk("zTXt", Buffer.from("chara\0\0no deflate stream", "latin1"));
    expect(importErrorOf(() => readCard(png(broken)))).toMatchObject({
      reason: "card_encoding",
      message: "The compressed text of the picture is broken.",
    });
  });
});

describe("cards that do not conform", () => {
  test("null is absent and a single greeting is a list", () => {
    const card = readCard(v2({ name: "A", character_book: null, alternate_greetings: "123", extensions: null }));
    expect(card).toMatchObject({ lorebook: null, character: { alternateGreetings: ["123"] } });
    expect(card.warnings.map(({ path }) => path)).toEqual([
      "/data/alternate_greetings",
      "/data/character_book",
      "/data/extensions",
    ]);
  });

  test("a book outside data with an object of entries and keys in one text is read", () => {
    const book = { entries: { 0: { keys: "gate, door", content: "x" } } };
    const card = readCard(v2({ name: "B" }, { name: "B", character_book: book }));
    expect(card.lorebook?.entries[0]).toMatchObject({ uid: 0, keys: ["gate", "door"], content: "x", enabled: true });
    expect(card.lorebook?.name).toBe("B");
    expect(pathsOf(card, "read_from_root")).toEqual(["/character_book"]);
    expect(pathsOf(card, "value_coerced")).toContain("/character_book/entries/0/keys");
  });

  test("a flat card is V1, and creatorcomment are its creator notes", () => {
    const card = readCard(bytesOf({ name: "C", description: "v1 only", first_mes: "", creatorcomment: "note" }));
    expect(card).toMatchObject({
      spec: "v1",
      character: { description: "v1 only", creatorNotes: "note" },
      warnings: [],
    });
  });

  test("group greetings are kept and named", () => {
    const card = readCard(
      bytesOf({ spec: "chara_card_v3", data: { name: "D", assets: [], group_only_greetings: ["g"] } }),
    );
    expect(pathsOf(card, "feature_unsupported")).toEqual(["/data/group_only_greetings"]);
  });

  test("Pygmalion names are mapped", () => {
    const card = readCard(bytesOf({ char_name: "P", char_persona: "d", char_greeting: "hi", world_scenario: "s" }));
    expect(card).toMatchObject({ spec: "pygmalion", character: { name: "P", description: "d", firstMessage: "hi" } });
    expect(card.character.scenario).toBe("s");
  });

  test("data wins over a root that differs, and the root is named", () => {
    const card = readCard(v2({ name: "N", scenario: "inner" }, { name: "N", scenario: "outer" }));
    expect(card.character.scenario).toBe("inner");
    expect(pathsOf(card, "root_ignored")).toEqual(["/scenario"]);
  });

  test("an unknown spec with data is read with a warning", () => {
    expect(codesOf(readCard(bytesOf({ spec: "other", data: { name: "X" } })))).toEqual(["spec_unknown"]);
  });

  test("characters no database stores are replaced, in the source too", () => {
    const card = readCard(bytesOf(String.raw`{"name":"a\u0000b\ud800"}`));
    expect(card).toMatchObject({ character: { name: "a\uFFFDb\uFFFD" }, source: { name: "a\uFFFDb\uFFFD" } });
    expect(card.warnings).toMatchObject([{ code: "text_repaired", path: "/name" }]);
  });

  test("both prompt overrides keep their own fields", () => {
    const card = readCard(v2({ name: "E", system_prompt: "SP {{original}}", post_history_instructions: "PHI" }));
    expect(card.character).toMatchObject({ systemPrompt: "SP {{original}}", postHistoryInstructions: "PHI" });
  });
});

describe("limits", () => {
  test("broken JSON names its line and column and quotes nothing", () => {
    const error = importErrorOf(() => readCard(bytesOf('{\n "name": "secret",,\n}')));
    expect(error).toMatchObject({ reason: "not_json", message: "The text is not valid JSON: line 2, column 19." });
  });

  test.each([
    ["fileBytes", () => new Uint8Array(32 * 1024 * 1024 + 1)],
    ["jsonBytes", () => bytesOf(`{"name":"${"x".repeat(8 * 1024 * 1024)}"}`)],
    ["jsonDepth", () => bytesOf(`{"name":"x","y":${"[".repeat(64)}${"]".repeat(64)}}`)],
    [
      "lorebookEntries",
      () => v2({ name: "x", character_book: { entries: Array.from({ length: 10_001 }, () => ({})) } }),
    ],
  ])("above %s the error names it", (limit, make) => {
    const error = importErrorOf(() => readCard(make()));
    expect(error.reason).toBe("limit_exceeded");
    expect(error.message).toContain(limit);
  });

  test("brackets inside a text are no depth", () => {
    expect(readCard(bytesOf({ name: `\\"${"[".repeat(100)}` })).character.name).toContain("[[[");
  });
});

describe.skipIf(!samplesArePresent)("real cards (skipped: ../shared is absent)", () => {
  test("Seraphina's PNG gives her V3 card and her book", () => {
    const card = readCard(sampleFile("default_Seraphina.png"));
    expect(card).toMatchObject({ spec: "v3", character: { name: "Seraphina", creator: "OtisAlejandro" } });
    expect(card.character.creatorNotes).toBe("ST Default Bot contest winner: roleplay bots category");
    expect(card.lorebook).toMatchObject({ name: "Eldoria", wordBoundaries: "ascii", warnings: [] });
    expect(card.lorebook?.entries.map(({ title, position }) => [title, position])).toEqual([
      ["eldoria", "before_character"],
      ["shadowfang", "before_character"],
      ["glade", "before_character"],
      ["power", "before_character"],
    ]);
    expect(codesOf(card)).toEqual(["feature_unsupported", "kept_unused"]);
  });

  test("Hazel's JSON keeps the line breaks of its texts", () => {
    const card = readCard(sampleFile("hazel.card.json"));
    expect(card).toMatchObject({ spec: "v3", character: { name: "Hazel" }, lorebook: { name: "Vesper" } });
    expect(card.lorebook?.entries).toHaveLength(4);
    expect(card.source).toEqual(JSON.parse(Buffer.from(sampleFile("hazel.card.json")).toString()));
  });
});
