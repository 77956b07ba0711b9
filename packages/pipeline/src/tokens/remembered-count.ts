import type { Profile } from "./profile.ts";

type Counts = Map<string, number>;
type Generation = WeakMap<Profile["countText"], Counts>;

/** In UTF-16 units. What is shorter is counted as fast as it is looked up; what is longer is seldom seen twice. */
const REMEMBERED = { shortest: 64, longest: 65_536 } as const;
/** Texts of one generation, in UTF-16 units: two of them hold a chat of 10,000 messages, in some 10 MB. */
const MOST_UNITS = 2 ** 22;

// What was asked for lately stands in the young generation; when that is full it grows old, and the old one is forgotten.
let young: Generation = new WeakMap();
let old: Generation = new WeakMap();
let youngUnits = 0;

/** The profile's count of a text, remembered from one assembly to the next: most of a chat is what it was a turn ago. */
export function rememberedCount({ countText }: Profile, text: string): number {
  if (text.length < REMEMBERED.shortest || text.length > REMEMBERED.longest) return countText(text);
  const known = young.get(countText)?.get(text);
  if (known !== undefined) return known;
  const tokens = old.get(countText)?.get(text) ?? countText(text);
  remember(countText, text, tokens);
  return tokens;
}

function remember(countText: Profile["countText"], text: string, tokens: number): void {
  if (youngUnits + text.length > MOST_UNITS) [young, old, youngUnits] = [new WeakMap(), young, 0];
  const counts: Counts = young.get(countText) ?? new Map();
  young.set(countText, counts.set(text, tokens));
  youngUnits += text.length;
}
