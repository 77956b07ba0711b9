import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Block } from "../block.ts";
import type { LoreEntry, Lorebook, LorePosition } from "../conversation.ts";
import { DEFAULT_LOREBOOK_SETTINGS } from "../settings.ts";
import { activate, type Verdict } from "./activate.ts";
import { loreCap } from "./budget.ts";
import { candidates } from "./candidates.ts";
import type { FilterSubject } from "./filter.ts";
import { scanText } from "./scan-text.ts";

type Raw = { readonly [key: string]: unknown };
type RawEntry = Raw & {
  readonly uid: number;
  readonly comment?: string;
  readonly content?: string;
  readonly outletName?: string;
};
type CaseSettings = Raw & { readonly user?: string; readonly char?: string; readonly characterFile?: string };
interface Case {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly entries?: readonly RawEntry[];
  readonly entriesFile?: string;
  readonly rawEntries?: boolean;
  readonly extraBooks?: readonly { source: Lorebook["binding"]; name: string; entries?: readonly RawEntry[] }[];
  readonly messages: readonly { name: string; is_user: boolean; mes: string }[];
  readonly settings: CaseSettings;
  readonly expected: readonly number[];
  readonly referenceOutput?: Raw;
  readonly expectedOutput?: Raw;
}

const fixture = new URL("../../fixtures/lorebook-activation.json", import.meta.url);
const { meta, cases } = JSON.parse(readFileSync(fixture, "utf8")) as {
  meta: { entryDefaults: Raw; worldInfoDefaults: Raw };
  cases: readonly Case[];
};
const sharedFolder = new URL("../../../../../shared/", import.meta.url);

/** What a case needs that the engine does not do yet, or `null`. */
function unsupported(one: Case): string | null {
  const worldInfo = (one.settings["world_info"] ?? {}) as Raw;
  const entries = [...(one.entries ?? []), ...(one.extraBooks ?? []).flatMap((book) => book.entries ?? [])];
  const anyEntry = (field: string) => entries.some((entry) => Boolean(entry[field]));
  if ("steps" in one.settings) return "timed effects";
  if ("externallyActivated" in one.settings) return "handed-in entries";
  if (anyEntry("group")) return "inclusion groups";
  if (anyEntry("delayUntilRecursion")) return "recursion";
  if (worldInfo["world_info_recursive"] === true && one.id !== 24) return "recursion";
  if (worldInfo["world_info_min_activations"] !== undefined) return "minimum activations";
  if (worldInfo["world_info_character_strategy"] === 0) return "source strategies";
  if ("extensionPrompts" in one.settings || anyEntry("matchScenario")) return "extra match sources";
  return null;
}

const POSITIONS: readonly LorePosition[] = [
  "before_character",
  "after_character",
  "author_note_top",
  "author_note_bottom",
  "at_depth",
  "before_examples",
  "after_examples",
  "outlet",
];
const ROLES = ["system", "user", "assistant"] as const;
const LOGICS = ["and_any", "not_all", "not_any", "and_all"] as const;

function loreEntry(raw: RawEntry, bookId: string): LoreEntry {
  const list = (field: string) => (Array.isArray(raw[field]) ? (raw[field] as string[]) : []);
  const filter = (raw["characterFilter"] ?? {}) as { isExclude?: boolean; names?: string[]; tags?: string[] };
  return {
    id: `${bookId}:${raw.uid}`,
    uid: raw.uid,
    title: raw.comment ?? "",
    keys: list("key"),
    secondaryKeys: list("keysecondary"),
    selective: Boolean(raw["selective"]),
    selectiveLogic: LOGICS[Number(raw["selectiveLogic"] ?? 0)] ?? "and_any",
    content: raw.content ?? "",
    constant: Boolean(raw["constant"]),
    enabled: raw["disable"] !== true,
    // The reference knows no required entries.
    required: false,
    order: Number(raw["order"] ?? 100),
    position: POSITIONS[Number(raw["position"] ?? 0)] ?? "before_character",
    depth: Number(raw["depth"] ?? 4),
    role: ROLES[Number(raw["role"] ?? 0)] ?? "system",
    outletName: raw.outletName ?? "",
    probability: Number(raw["probability"] ?? 100),
    useProbability: Boolean(raw["useProbability"]),
    scanDepth: (raw["scanDepth"] ?? null) as number | null,
    caseSensitive: (raw["caseSensitive"] ?? null) as boolean | null,
    matchWholeWords: (raw["matchWholeWords"] ?? null) as boolean | null,
    ignoreBudget: Boolean(raw["ignoreBudget"]),
    triggers: list("triggers"),
    characterFilter: { exclude: filter.isExclude === true, names: filter.names ?? [], tags: filter.tags ?? [] },
  };
}

function lorebooks(one: Case): readonly Lorebook[] {
  const defaults = one.rawEntries === true ? {} : meta.entryDefaults;
  const book = (id: string, binding: Lorebook["binding"], entries: readonly RawEntry[]): Lorebook => ({
    id,
    name: id,
    binding,
    scanDepth: null,
    budgetTokens: null,
    wordBoundaries: "ascii",
    entries: entries.map((entry) => loreEntry({ ...defaults, ...entry }, id)),
  });
  const own = one.entriesFile === undefined ? (one.entries ?? []) : fileEntries(one.entriesFile);
  const extra = (one.extraBooks ?? []).map(({ source, name, entries }) =>
    book(name, source, entries ?? (name === "book" ? own : [])),
  );
  return [book("book", "global", own), ...extra];
}

function fileEntries(path: string): readonly RawEntry[] {
  const world = JSON.parse(readFileSync(new URL(path, sharedFolder), "utf8")) as { entries: Record<string, RawEntry> };
  return Object.values(world.entries);
}

function historyBlock({ name, is_user, mes }: Case["messages"][number], index: number): Block {
  return {
    id: `msg:${index}`,
    source: "history",
    role: is_user ? "user" : "assistant",
    content: mes,
    name,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: false,
    relevance: null,
    refId: `m${index}`,
    label: name,
    seq: index,
    groupId: null,
    stage: "select",
    reason: "history",
    reasonDetail: null,
  };
}

function subject(one: Case): FilterSubject {
  const trigger = ((one.settings["scanData"] ?? {}) as Raw)["trigger"] ?? "reply";
  return {
    action: trigger as FilterSubject["action"],
    names: new Set([one.settings.characterFile ?? ""]),
    tags: new Set((one.settings["characterTags"] ?? []) as string[]),
  };
}

function run(one: Case): { readonly verdicts: readonly Verdict[]; readonly randomLeft: number } {
  const worldInfo = { ...meta.worldInfoDefaults, ...((one.settings["world_info"] ?? {}) as Raw) };
  const values = { user: one.settings.user ?? "User", char: one.settings.char ?? "Char" };
  const settings = {
    ...DEFAULT_LOREBOOK_SETTINGS,
    scanDepth: Number(worldInfo["world_info_depth"]),
    includeNames: Boolean(worldInfo["world_info_include_names"]),
    budgetPercent: Number(worldInfo["world_info_budget"]),
    budgetCapTokens: Number(worldInfo["world_info_budget_cap"]),
    caseSensitive: Boolean(worldInfo["world_info_case_sensitive"]),
    matchWholeWords: Boolean(worldInfo["world_info_match_whole_words"]),
  };
  const random = [...((one.settings["random"] ?? []) as number[])];
  const verdicts = activate({
    candidates: candidates(lorebooks(one)),
    scan: scanText(one.messages.map(historyBlock), { includeNames: settings.includeNames, values }),
    subject: subject(one),
    settings,
    values,
    capTokens: loreCap(settings, Number(one.settings["maxContext"] ?? 4096)),
    countText: (text) => text.split(/\s+/).filter((word) => word !== "").length,
    roll: () => 100 * (random.shift() ?? Number.NaN),
  });
  return { verdicts, randomLeft: random.length };
}

/** Called for and not refused: in the prompt, or kept out only because its place is not there or it is blank. */
function activated(verdicts: readonly Verdict[]): readonly Verdict[] {
  return verdicts.filter(
    ({ included, reason }) => included || reason === "position_slot_missing" || reason === "empty",
  );
}

function textAt(verdicts: readonly Verdict[], position: LorePosition): string {
  return verdicts
    .filter((verdict) => verdict.included && verdict.entry.position === position)
    .sort((a, b) => b.entry.order - a.entry.order)
    .reverse()
    .map(({ content }) => content)
    .join("\n");
}

const supported = cases.filter((one) => unsupported(one) === null);

describe("lorebook activation cases of the reference", () => {
  it("leaves out exactly the cases whose features are not built", () => {
    const missing = new Map<string, number>();
    for (const one of cases) {
      const feature = unsupported(one);
      if (feature !== null) missing.set(feature, (missing.get(feature) ?? 0) + 1);
    }
    expect({ all: cases.length, supported: supported.length, ...Object.fromEntries(missing) }).toEqual({
      all: 88,
      "extra match sources": 1,
      "handed-in entries": 2,
      "inclusion groups": 8,
      "minimum activations": 3,
      recursion: 11,
      "source strategies": 1,
      supported: 54,
      "timed effects": 8,
    });
  });

  for (const one of supported.filter(({ entriesFile }) => entriesFile === undefined)) check(one);
});

const haveShared = existsSync(new URL("samples/eldoria-1.19.world.json", sharedFolder));
describe.skipIf(!haveShared)(
  `activation cases over a real book${haveShared ? "" : " (skipped: ../shared is absent)"}`,
  () => {
    for (const one of supported.filter(({ entriesFile }) => entriesFile !== undefined)) check(one);
  },
);

function check(one: Case): void {
  it(`case ${one.id}: ${one.name}`, () => {
    const { verdicts, randomLeft } = run(one);
    expect(activated(verdicts).map(({ entry }) => entry.uid)).toEqual(one.expected);
    expect(randomLeft).toBe(0);
    const output = one.expectedOutput ?? one.referenceOutput;
    if (output !== undefined) {
      expect(textAt(verdicts, "before_character")).toBe(output["before"] ?? "");
      expect(textAt(verdicts, "after_character")).toBe(output["after"] ?? "");
    }
  });
}
