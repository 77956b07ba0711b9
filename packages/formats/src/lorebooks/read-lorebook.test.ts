import { describe, expect, test } from "vitest";
import { sampleFile, samplesArePresent } from "../testing/files.ts";
import { bytesOf, importErrorOf } from "../testing/thrown.ts";
import { readLorebook, type BookImport } from "./read-lorebook.ts";

const codesOf = (book: BookImport): readonly string[] => book.warnings.map(({ code }) => code);
const worldInfo = (...entries: readonly object[]): BookImport =>
  readLorebook({ entries: Object.fromEntries(entries.entries()) });
const characterBook = (...entries: readonly object[]): BookImport => readLorebook({ entries });

const FROM_WORLD_INFO = worldInfo({
  uid: 0,
  key: ["a"],
  keysecondary: ["b"],
  selective: true,
  selectiveLogic: 2,
  comment: "t",
  content: "c",
  constant: true,
  disable: true,
  order: 5,
  position: 4,
  depth: 0,
  role: 2,
  outletName: "o",
  probability: 50,
  useProbability: false,
  scanDepth: 3,
  caseSensitive: true,
  matchWholeWords: false,
  ignoreBudget: true,
  triggers: ["swipe"],
  excludeRecursion: true,
  preventRecursion: true,
  delayUntilRecursion: 2,
});
const FROM_CARD = characterBook({
  id: 0,
  keys: ["a"],
  secondary_keys: ["b"],
  selective: true,
  comment: "t",
  content: "c",
  constant: true,
  enabled: false,
  insertion_order: 5,
  extensions: {
    selectiveLogic: 2,
    position: 4,
    depth: 0,
    role: 2,
    outlet_name: "o",
    probability: 50,
    useProbability: false,
    scan_depth: 3,
    case_sensitive: true,
    match_whole_words: false,
    ignore_budget: true,
    triggers: ["swipe"],
    exclude_recursion: true,
    prevent_recursion: true,
    delay_until_recursion: 2,
  },
});

describe("one entry in two dialects", () => {
  test("both give the same entry, with every value read", () => {
    expect(FROM_CARD.entries).toEqual(FROM_WORLD_INFO.entries);
    expect(FROM_CARD.entries[0]).toEqual({
      uid: 0,
      title: "t",
      keys: ["a"],
      secondaryKeys: ["b"],
      selective: true,
      selectiveLogic: "not_any",
      content: "c",
      constant: true,
      enabled: false,
      required: null,
      order: 5,
      position: "at_depth",
      depth: 0,
      role: "assistant",
      outletName: "o",
      probability: 50,
      useProbability: false,
      scanDepth: 3,
      caseSensitive: true,
      matchWholeWords: false,
      ignoreBudget: true,
      triggers: ["swipe"],
      characterFilter: { exclude: false, names: [], tags: [] },
    });
  });

  test("both name the entry and what is not run", () => {
    const message =
      'Entry 0 "t" asks for what is not run here and is kept in the source: recursion (excludeRecursion), ' +
      "recursion (preventRecursion), recursion (delayUntilRecursion), position at_depth.";
    expect(FROM_WORLD_INFO.warnings).toMatchObject([{ code: "feature_unsupported", message, path: "/entries/0" }]);
    expect(FROM_CARD.warnings).toMatchObject([{ code: "feature_unsupported", message }]);
  });
});

describe("defaults", () => {
  test("a bare world-info entry is before the character, a bare book entry behind it", () => {
    const bare = { content: "c" };
    expect(worldInfo({ key: ["a"], ...bare }).entries[0]).toMatchObject({
      selective: true,
      position: "before_character",
      order: 100,
      depth: 4,
      role: "system",
      enabled: true,
      probability: 100,
      scanDepth: null,
      caseSensitive: null,
      matchWholeWords: null,
    });
    expect(characterBook({ keys: ["a"], enabled: true, ...bare }).entries[0]).toMatchObject({
      selective: false,
      position: "after_character",
    });
  });

  test("before_char is before, any other place of a book entry behind", () => {
    const places = ["before_char", "after_char"].map((position) => ({ keys: ["a"], enabled: true, position }));
    expect(characterBook(...places).entries.map(({ position }) => position)).toEqual([
      "before_character",
      "after_character",
    ]);
  });

  test("null inherits, in both places", () => {
    const entry = { caseSensitive: null, matchWholeWords: null, scanDepth: null, role: null };
    expect(worldInfo({ key: ["a"], ...entry, extensions: { case_sensitive: true } }).entries[0]).toMatchObject({
      caseSensitive: null,
      matchWholeWords: null,
      scanDepth: null,
      role: "system",
    });
  });

  test("a book entry's own case_sensitive counts unless its extension is set", () => {
    const cased = (extension: boolean | null): object => ({
      keys: ["a"],
      enabled: true,
      case_sensitive: true,
      extensions: { case_sensitive: extension },
    });
    expect(characterBook(cased(null), cased(false)).entries.map(({ caseSensitive }) => caseSensitive)).toEqual([
      true,
      false,
    ]);
  });

  test("an entry that does not say whether it is enabled is, with a warning", () => {
    const book = characterBook({ keys: ["a"] });
    expect(book.entries[0]?.enabled).toBe(true);
    expect(book.warnings).toMatchObject([{ code: "value_coerced", path: "/entries/0/enabled" }]);
  });
});

describe("containers", () => {
  test("a standalone lorebook_v3 is read from its data", () => {
    const data = { name: "B", scan_depth: 7, token_budget: 500, recursive_scanning: true, entries: [{ keys: 3 }] };
    const book = readLorebook(bytesOf({ spec: "lorebook_v3", data }));
    expect(book).toMatchObject({ name: "B", scanDepth: 7, budgetTokens: 500, source: data });
    expect(book.warnings).toContainEqual(
      expect.objectContaining({ code: "feature_unsupported", path: "/data/recursive_scanning" }),
    );
    expect(book.warnings).toContainEqual(expect.objectContaining({ path: "/data/entries/0/keys" }));
  });

  test("a list dropped as world info is converted, not stored with dead keys", () => {
    const book = characterBook({ keys: ["moon"], content: "m", enabled: true, insertion_order: 10, name: "Moon" });
    expect(book.entries[0]).toMatchObject({ uid: 0, keys: ["moon"], order: 10, title: "Moon" });
  });

  test("world-info entries in a list keep their dialect", () => {
    expect(characterBook({ uid: 3, key: ["a"], disable: true }).entries[0]).toMatchObject({ uid: 3, enabled: false });
  });

  test("zero depth and budget of a book are not set", () => {
    const book = readLorebook({ scan_depth: 0, token_budget: 0, entries: [] });
    expect(book).toMatchObject({ scanDepth: null, budgetTokens: null });
    expect(codesOf(book)).toEqual(["value_coerced", "value_coerced"]);
  });

  test.each([
    [{ type: "risu", ver: 1, data: [] }, "RisuAI"],
    [{ kind: "memory", entries: [] }, "Agnai"],
    [{ lorebookVersion: 6, entries: [] }, "NovelAI"],
  ])("the lorebook of another engine is refused by name", (foreign, name) => {
    const error = importErrorOf(() => readLorebook(foreign));
    expect(error.reason).toBe("format_unsupported");
    expect(error.message).toContain(name);
  });

  test("no entries and no object are errors", () => {
    expect(importErrorOf(() => readLorebook({ name: "x" }))).toMatchObject({
      reason: "entries_missing",
      field: "/entries",
    });
    expect(importErrorOf(() => readLorebook(bytesOf("[]"))).reason).toBe("root_not_object");
    expect(importErrorOf(() => readLorebook(bytesOf("{"))).reason).toBe("not_json");
  });
});

describe("numbers of entries", () => {
  test("entries and their sources come by ascending uid", () => {
    const book = readLorebook({ entries: { x: { uid: 9, key: [] }, y: { uid: 2, key: [] } } });
    expect(book.entries.map(({ uid }) => uid)).toEqual([2, 9]);
    expect(book.entrySources).toMatchObject([{ uid: 2 }, { uid: 9 }]);
  });

  test("a number used twice, or no number, is replaced by one above all", () => {
    const base = { keys: [], enabled: true };
    const book = characterBook({ id: 5, ...base }, { id: 5, ...base }, { id: 1e12, ...base }, { id: "7", ...base });
    expect(book.entries.map(({ uid }) => uid)).toEqual([2, 5, 7, 8]);
    expect(codesOf(book)).toEqual(["entry_renumbered"]);
  });
});

describe("warnings", () => {
  const features = (entry: object): readonly string[] =>
    worldInfo({ key: ["a"], ...entry }).warnings.map((w) => w.message);

  test.each([
    [{ group: "g" }, "inclusion group (group)"],
    [{ sticky: 2 }, "timed effect (sticky)"],
    [{ vectorized: true }, "vector match"],
    [{ matchScenario: true }, "extra scan text (matchScenario)"],
    [{ content: "@@depth 2\ntext" }, "decorators (@@)"],
    [{ position: 7 }, "position outlet"],
    [{ priority: 10 }, "budget priority"],
    [{ characterFilter: { names: [], tags: ["1"] } }, "Tags of a filter"],
  ])("%j is named", (entry, words) => {
    expect(features(entry)).toEqual([expect.stringContaining(words)]);
  });

  test("values that switch nothing on are not named", () => {
    expect(features({ group: "", sticky: 0, cooldown: null, delayUntilRecursion: false, groupWeight: 100 })).toEqual(
      [],
    );
  });

  test("plain keys beside use_regex are plain, and only a pattern of a V3 book is named", () => {
    const entry = { enabled: true, use_regex: true };
    const bare = characterBook({ keys: ["dogs?"], ...entry }, { keys: ["dog"], ...entry });
    expect(bare.warnings).toMatchObject([{ code: "feature_unsupported", path: "/entries/0" }]);
    expect(codesOf(characterBook({ keys: ["dogs?"], ...entry, extensions: { position: 0 } }))).toEqual([]);
  });

  test.each(["/(/", "/a/q", "/a/b/i"])("the key %s is no valid regex and stays as text", (key) => {
    const book = worldInfo({ key: [key] });
    expect(book.entries[0]?.keys).toEqual([key]);
    expect(codesOf(book)).toEqual(["key_invalid_regex"]);
  });

  test.each(["/a\\/b/i", "/x/gimsuy", "and/or", "/path", "//"])("the key %s is no cause for a warning", (key) => {
    expect(codesOf(worldInfo({ key: [key] }))).toEqual([]);
  });

  test("a key of only spaces is named, for it matches everything", () => {
    expect(codesOf(worldInfo({ key: ["  "], keysecondary: [] }))).toEqual(["key_blank"]);
  });

  test("values unknown here are listed once for the book", () => {
    const book = worldInfo({ key: [], novel: 1, extensions: { chub: { a: 1 } } }, { key: [], novel: 2 });
    expect(book.warnings).toMatchObject([
      { code: "kept_unused", message: "Kept in the entries' source and not used: novel, extensions.chub." },
    ]);
  });

  test("an entry that is no object is skipped and named", () => {
    expect(readLorebook({ entries: [null, { keys: ["a"], enabled: true }] })).toMatchObject({
      entries: [{ uid: 1 }],
      warnings: [{ code: "entry_skipped", path: "/entries/0" }],
    });
  });

  test("a long list of warnings ends with a count of the rest", () => {
    const book = characterBook(...Array.from({ length: 1_500 }, () => ({ keys: ["a"] })));
    expect(book.warnings).toHaveLength(1_001);
    expect(book.warnings.at(-1)).toMatchObject({ code: "more_warnings", message: expect.stringContaining("500 more") });
  });
});

describe("values of other types", () => {
  test("numbers and words are coerced into their ranges", () => {
    const entry = {
      key: "a, b",
      order: "7.9",
      probability: 250,
      depth: -1,
      constant: "true",
      role: "user",
      position: 99,
    };
    const book = worldInfo(entry);
    expect(book.entries[0]).toMatchObject({
      keys: ["a", "b"],
      order: 7,
      probability: 100,
      depth: 0,
      constant: true,
      role: "user",
      position: "before_character",
    });
    expect(book.warnings.map(({ code, path }) => [code, path])).toEqual([
      ["value_coerced", "/entries/0/key"],
      ["value_coerced", "/entries/0/constant"],
      ["value_coerced", "/entries/0/order"],
      ["value_dropped", "/entries/0/position"],
      ["value_coerced", "/entries/0/depth"],
      ["value_coerced", "/entries/0/probability"],
    ]);
  });

  test("a book with more keys than the limit is refused by its name", () => {
    const error = importErrorOf(() => characterBook({ keys: Array.from({ length: 200_001 }, () => "/(/") }));
    expect(error.message).toContain("lorebookKeys");
  });
});

describe.skipIf(!samplesArePresent)("real books (skipped: ../shared is absent)", () => {
  test("Eldoria of 1.19 and of 1.12.6 hold the same entries, without a warning", () => {
    const [current, older] = ["eldoria-1.19.world.json", "eldoria-1.12.6.world.json"].map((name) =>
      readLorebook(sampleFile(name)),
    );
    expect(current?.warnings).toEqual([]);
    expect(older?.warnings).toEqual([]);
    expect(current?.entries).toHaveLength(4);
    const essence = (book?: BookImport): unknown =>
      book?.entries.map((entry) => ({ ...entry, title: "", selective: true, content: "", keys: entry.keys.length }));
    expect(essence(older)).toEqual(essence(current));
  });

  test("Vesper takes its name from the book it was made from", () => {
    const book = readLorebook(sampleFile("vesper.world.json"));
    expect(book).toMatchObject({ name: "Vesper", scanDepth: null, budgetTokens: null, warnings: [] });
    expect(book.entries.map(({ title }) => title)).toEqual(["vesper", "stacks", "deadchannel", "hazelsgift"]);
  });
});
