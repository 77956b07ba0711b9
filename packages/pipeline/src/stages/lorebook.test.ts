import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block } from "../block.ts";
import type { Conversation, LoreEntry, Lorebook } from "../conversation.ts";
import { rollPercent } from "../lorebook/roll.ts";
import { DEFAULT_LOREBOOK_SETTINGS, type AssemblySettings, type LorebookSettings } from "../settings.ts";
import { aBlock, aCharacter, aConversation, aLorebook, aLoreEntry, theSettings } from "../testing/conversation.ts";
import { lorebook } from "./lorebook.ts";

const keyed = (id: string, keys: readonly string[], part: Partial<LoreEntry> = {}) =>
  aLoreEntry(id, { constant: false, keys, selective: true, ...part });

const said = (id: string, content: string, role: Block["role"] = "user") =>
  aBlock(`msg:${id}`, { refId: id, role, content });

interface Options {
  readonly book?: Partial<Lorebook>;
  readonly lore?: Partial<LorebookSettings>;
  readonly settings?: Partial<AssemblySettings>;
  readonly conversation?: Partial<Conversation>;
  readonly budgetTokens?: number;
}

function run(entries: readonly LoreEntry[], scanned: readonly Block[], options: Options = {}) {
  const numbered = entries.map((entry, uid) => ({ ...entry, uid }));
  return lorebook({
    conversation: aConversation([], {
      lorebooks: [{ ...aLorebook(numbered), ...options.book }],
      ...options.conversation,
    }),
    settings: theSettings({ lorebook: { ...DEFAULT_LOREBOOK_SETTINGS, ...options.lore }, ...options.settings }),
    scanned,
    budgetTokens: options.budgetTokens ?? 8_000,
    countText: (text) => text.split(/\s+/).length,
  });
}

/** Verdict by entry id: `+reason` or `-reason`. */
function verdicts(result: ReturnType<typeof run>): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...result.blocks.map(({ refId, reason }) => [refId, `+${reason}`]),
    ...result.leftOut.map(({ block, reason }) => [block.refId, `-${reason}`]),
  ]) as Record<string, string>;
}

describe("lorebook stage", () => {
  it("gives each entry one verdict with its reason", () => {
    const entries = [
      aLoreEntry("always"),
      keyed("hit", ["dragon"]),
      keyed("both", ["dragon"], { secondaryKeys: ["castle"] }),
      keyed("half", ["dragon"], { secondaryKeys: ["river"] }),
      keyed("none", ["unicorn"]),
      keyed("keyless", [""]),
      keyed("off", ["dragon"], { enabled: false }),
      keyed("blank", ["dragon"], { content: " \n" }),
      keyed("swipe", ["dragon"], { triggers: ["swipe"] }),
      keyed("normal", ["dragon"], { triggers: ["normal"] }),
      keyed("deep", ["dragon"], { position: "at_depth" }),
      keyed("early", ["beginning"]),
      keyed("never", ["dragon"], { useProbability: true, probability: -1 }),
      keyed("broken", ["/(d)\\1/"]),
      keyed("decorated", ["unicorn"], { content: "@@activate\nForced." }),
    ];
    const scanned = [
      said("m1", "In the beginning"),
      said("m2", "ok", "assistant"),
      said("m3", "A dragon at the castle"),
    ];
    expect(verdicts(run(entries, scanned))).toEqual({
      always: "+lore_constant",
      hit: "+lore_key_match",
      both: "+lore_secondary_match",
      half: "-lore_secondary_unmet",
      none: "-lore_no_key_match",
      keyless: "-lore_no_keys",
      off: "-disabled",
      blank: "-empty",
      swipe: "-trigger_mismatch",
      normal: "+lore_key_match",
      deep: "-position_slot_missing",
      early: "-lore_outside_scan_depth",
      never: "-lore_probability_failed",
      broken: "-regex_rejected",
      decorated: "+lore_forced",
    });
  });

  it("shows which key matched, in which message, and where", () => {
    const entries = [
      keyed("plain", ["wyvern", "Dragon"]),
      keyed("pattern", ["/drag[a-z]+/i"], { position: "after_character" }),
    ];
    const { blocks } = run(entries, [said("m1", "hm", "assistant"), said("m2", "  See: the DRAGON")]);
    expect(blocks.map(({ reasonDetail }) => reasonDetail)).toEqual([
      { key: "Dragon", messageId: "m2", offset: 11, position: "before_character", order: 100 },
      { key: "/drag[a-z]+/i", messageId: "m2", offset: 11, position: "after_character", order: 100 },
    ]);
  });

  it("tells a key beyond the scan depth from one that is nowhere", () => {
    const scanned = [said("m1", "wyvern"), said("m2", "b", "assistant"), said("m3", "c")];
    const { leftOut } = run([keyed("far", ["wyvern"])], scanned);
    expect(leftOut[0]).toMatchObject({
      reason: "lore_outside_scan_depth",
      reasonDetail: { key: "wyvern", messageId: "m1", offset: 0, scanDepth: 2 },
    });
    expect(verdicts(run([keyed("far", ["wyvern"])], scanned, { book: { scanDepth: 3 } }))).toEqual({
      far: "+lore_key_match",
    });
    expect(verdicts(run([keyed("far", ["wyvern"], { scanDepth: 1 })], scanned, { book: { scanDepth: 3 } }))).toEqual({
      far: "-lore_outside_scan_depth",
    });
    expect(verdicts(run([keyed("near", ["c"])], scanned, { lore: { scanDepth: 0 } }))).toEqual({
      near: "-lore_outside_scan_depth",
    });
  });

  it.each([
    ["and_any", ["+", "+", "-"]],
    ["not_all", ["-", "+", "+"]],
    ["not_any", ["-", "-", "+"]],
    ["and_all", ["+", "-", "-"]],
  ] as const)("%s reads two secondary keys found, one found, none found", (selectiveLogic, signs) => {
    const texts = ["forest elf orc", "forest elf", "forest"];
    const entry = keyed("e", ["forest"], { secondaryKeys: ["elf", "orc"], selectiveLogic });
    expect(texts.map((text) => verdicts(run([entry], [said("m", text)]))["e"]?.charAt(0))).toEqual(signs);
  });

  it("does not let a secondary key that cannot be tested decide", () => {
    const entry = (selectiveLogic: LoreEntry["selectiveLogic"]) =>
      keyed(selectiveLogic, ["forest"], { secondaryKeys: ["/(?=x)/", "elf"], selectiveLogic });
    const entries = [entry("and_any"), entry("not_any"), entry("and_all"), entry("not_all")];
    expect(verdicts(run(entries, [said("m", "forest")]))).toEqual({
      and_any: "-regex_rejected",
      not_any: "-regex_rejected",
      and_all: "-lore_secondary_unmet",
      not_all: "+lore_secondary_match",
    });
  });

  it("finds decomposed text with a composed key and the other way round, in books with Unicode words", () => {
    const entries = [
      keyed("nfc", ["caf\u00e9"]),
      keyed("nfd", ["nai\u0308ve"]),
      keyed("ern", ["ern"]),
      keyed("cpp", ["C++"]),
    ];
    expect(verdicts(run(entries, [said("m", "cafe\u0301, naïve; vergrößern in C++")]))).toEqual({
      nfc: "+lore_key_match",
      nfd: "+lore_key_match",
      ern: "-lore_no_key_match",
      cpp: "+lore_key_match",
    });
  });

  it("obeys an entry's own case and word flags before the global ones", () => {
    const entries = [
      keyed("case", ["Rose"], { caseSensitive: true }),
      keyed("part", ["ros"], { matchWholeWords: false }),
      keyed("word", ["ros"]),
    ];
    expect(verdicts(run(entries, [said("m", "a rose")]))).toEqual({
      case: "-lore_no_key_match",
      part: "+lore_key_match",
      word: "-lore_no_key_match",
    });
  });

  it("replaces macros in keys, names in patterns standing for themselves, and in content", () => {
    const character = aCharacter({ name: "Mr. X (old)" });
    const entries = [
      keyed("pattern", ["/^.*{{char}}/s"], { content: "About {{char}}.\r\n" }),
      keyed("plain", ["{{char}}"], { position: "after_character" }),
    ];
    const options: Options = { conversation: { character }, lore: { includeNames: false } };
    const hit = run(entries, [said("m", "here is Mr. X (old)!")], options);
    expect(hit.blocks.map(({ content }) => content)).toEqual(["About Mr. X (old).", "Lore of plain."]);
    expect(run(entries, [said("m", "here is Mrs X old")], options).blocks).toEqual([]);
  });

  it("sees the speaker's name unless told not to", () => {
    const speaker = aBlock("msg:m", { refId: "m", role: "assistant", content: "hi", name: "Guard" });
    const entries = [keyed("guard", ["guard"]), keyed("pattern", ["/\\x01Guard: h/"])];
    expect(verdicts(run(entries, [speaker]))).toEqual({ guard: "+lore_key_match", pattern: "+lore_key_match" });
    expect(run(entries, [speaker], { lore: { includeNames: false } }).blocks).toEqual([]);
  });

  it("filters by character name and tag, without case", () => {
    const filter = (exclude: boolean, names: readonly string[], tags: readonly string[] = []) => ({
      characterFilter: { exclude, names, tags },
    });
    const entries = [
      aLoreEntry("named", filter(false, ["mira"])),
      aLoreEntry("other", filter(false, ["Sera"])),
      aLoreEntry("not", filter(true, ["MIRA"])),
      aLoreEntry("tag", filter(false, [], ["Sea", "x"])),
      aLoreEntry("untag", filter(true, [], ["sea"])),
    ];
    expect(verdicts(run(entries, [], { conversation: { character: aCharacter({ tags: ["sea"] }) } }))).toEqual({
      named: "+lore_constant",
      other: "-lore_character_filter",
      not: "-lore_character_filter",
      tag: "+lore_constant",
      untag: "-lore_tag_filter",
    });
  });

  it("puts the highest order last at each position, equals in reverse, before the character first", () => {
    const entries = [
      aLoreEntry("a", { order: 10 }),
      aLoreEntry("b", { order: 200 }),
      aLoreEntry("c", { order: 10 }),
      aLoreEntry("z", { order: 1, position: "after_character" }),
    ];
    expect(run(entries, []).blocks.map(({ refId }) => refId)).toEqual(["c", "a", "b", "z"]);
  });

  it("rolls by the seed, per entry, with the roll as evidence, whatever else is in the book", () => {
    const chance = (id: string) => aLoreEntry(id, { useProbability: true, probability: 50 });
    const few = verdicts(run([chance("a"), chance("b")], []));
    const many = verdicts(run([chance("x"), chance("a"), aLoreEntry("y"), chance("b")], []));
    expect([many["a"], many["b"]]).toEqual([few["a"], few["b"]]);
    const outcomes = Array.from(
      { length: 40 },
      (_, index) => verdicts(run([chance("a")], [], { settings: { seed: `s${index}` } }))["a"],
    );
    expect(new Set(outcomes)).toEqual(new Set(["+lore_constant", "-lore_probability_failed"]));
    const { blocks, leftOut } = run([chance("a")], []);
    const detail = blocks[0]?.reasonDetail ?? leftOut[0]?.reasonDetail;
    expect(detail).toMatchObject({ roll: rollPercent("seed", "book_1", "a"), probability: 50 });
  });

  it("keeps a constant entry when the budget is far too small, as required", () => {
    const { blocks, leftOut, capTokens } = run(
      [aLoreEntry("law", { content: "w ".repeat(300) }), keyed("x", ["dragon"])],
      [said("m", "dragon")],
      {
        budgetTokens: 100,
      },
    );
    expect(capTokens).toBe(25);
    expect(blocks.map(({ refId, required }) => [refId, required])).toEqual([["law", true]]);
    expect(leftOut[0]).toMatchObject({
      reason: "lore_budget_exceeded",
      tokens: 3,
      reasonDetail: { usedTokens: 300, winners: ["law"] },
    });
  });

  it("stays quick on keys made to be slow", () => {
    const keys = ["/.*.*.*Q/", "/(a+)+$/", "/(x+x+)+y/", "/(a|b)*a(a|b){100}c/", `${"a".repeat(250)}b`, "aaaa"];
    const entries = Array.from({ length: 60 }, (_, index) => keyed(`e${index}`, [keys[index % keys.length] ?? ""]));
    const start = performance.now();
    const result = run(entries, [said("m", `${"a".repeat(20_000)} ${"x".repeat(1_600)}`)], {
      book: { wordBoundaries: "ascii" },
    });
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(result.blocks.length + result.leftOut.length).toBe(60);
  });
});

describe("lorebook stage, for any book", () => {
  const word = fc.constantFrom("dragon", "castle", "/riv(er|al)/", "/(a)\\1/", "/(open/", " ", "", "{{char}}", "dra");
  const entry = fc.record({
    keys: fc.array(word, { maxLength: 3 }),
    secondaryKeys: fc.array(word, { maxLength: 2 }),
    selective: fc.boolean(),
    selectiveLogic: fc.constantFrom("and_any", "not_all", "not_any", "and_all"),
    constant: fc.boolean(),
    enabled: fc.boolean(),
    required: fc.constantFrom(null, true, false),
    order: fc.nat(3),
    position: fc.constantFrom("before_character", "after_character", "at_depth", "outlet"),
    probability: fc.nat(100),
    useProbability: fc.boolean(),
    ignoreBudget: fc.boolean(),
    scanDepth: fc.constantFrom(null, 0, 1, 5),
    content: fc.constantFrom("", "one", "one two three", "one ".repeat(30)),
  });
  const text = fc
    .array(fc.constantFrom("dragon", "river", "castle", "x", "Mira"), { maxLength: 4 })
    .map((words) => words.join(" "));

  it("gives one verdict per entry, the same every time, within the budget, and changes nothing", () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 12 }),
        fc.array(text, { maxLength: 5 }),
        fc.integer({ min: 0, max: 200 }),
        (parts, texts, budgetTokens) => {
          const entries = parts.map((part, index) => aLoreEntry(`e${index}`, part as Partial<LoreEntry>));
          const scanned = texts.map((content, index) => said(`m${index}`, content));
          const before = JSON.stringify([entries, scanned]);
          const result = run(entries, scanned, { budgetTokens });
          const ids = [...result.blocks.map(({ id }) => id), ...result.leftOut.map(({ block }) => block.id)];
          expect(ids.toSorted()).toEqual(entries.map(({ id }) => `lore:${id}`).toSorted());
          expect(run(structuredClone(entries), scanned, { budgetTokens })).toEqual(result);
          expect(JSON.stringify([entries, scanned])).toBe(before);
          const free = new Set(entries.filter((one) => one.ignoreBudget).map(({ id }) => id));
          const optional = result.blocks.filter(({ required, refId }) => !required && !free.has(refId ?? ""));
          const spent = optional.reduce((sum, { content }) => sum + content.split(/\s+/).length, 0);
          expect(spent).toBeLessThan(Math.max(1, result.capTokens));
        },
      ),
      { seed: 7 },
    );
  });
});
