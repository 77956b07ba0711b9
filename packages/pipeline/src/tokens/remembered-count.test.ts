import { describe, expect, it } from "vitest";
import { calibrated } from "./calibration.ts";
import { createCounter } from "./counter.ts";
import type { Profile } from "./profile.ts";
import { PROFILES } from "./profiles.ts";

/** A profile of its own that lists what it was asked to count. */
function listening(): { readonly profile: Profile; readonly asked: string[] } {
  const asked: string[] = [];
  const countText = (text: string): number => {
    asked.push(text);
    return text.length;
  };
  return { asked, profile: { ...PROFILES["estimate:claude"], countText } };
}
const text = (first: number, length = 4_000): string => String(first).padEnd(length, " word");

describe("a count", () => {
  it("is taken once, however many assemblies ask, and for each profile alone", () => {
    const [one, other] = [listening(), listening()];
    for (let assembly = 0; assembly < 3; assembly += 1)
      expect(createCounter(one.profile).countText(text(1))).toBe(4_000);
    expect(createCounter(other.profile).countText(text(1))).toBe(4_000);
    expect([one.asked.length, other.asked.length]).toEqual([1, 1]);
  });

  it("is remembered as it was before it was multiplied", () => {
    const { profile, asked } = listening();
    for (const factor of [1.1, 1.2])
      expect(createCounter(calibrated(profile, { version: 1, factor })).countText(`${text(2)}é`)).toBe(4_002);
    expect(createCounter(profile).countText(`${text(2)}é`)).toBe(4_001);
    expect(asked).toHaveLength(1);
  });

  it("of a short text, or of a very long one, is taken anew by each assembly", () => {
    const { profile, asked } = listening();
    for (let assembly = 0; assembly < 2; assembly += 1)
      for (const length of [63, 65_537]) createCounter(profile).countText(text(3, length));
    expect(asked).toHaveLength(4);
  });

  it("is forgotten when nobody has asked for long, and kept as long as somebody does", () => {
    const { profile, asked } = listening();
    const count = (each: string) => createCounter(profile).countText(each);
    count("kept".padEnd(4_000));
    count("forgotten".padEnd(4_000));
    for (let other = 0; other < 3_000; other += 1) {
      count(text(other));
      if (other % 500 === 0) count("kept".padEnd(4_000));
    }
    const before = asked.length;
    count("kept".padEnd(4_000));
    expect(asked.length).toBe(before);
    count("forgotten".padEnd(4_000));
    expect(asked.length).toBe(before + 1);
  });
});
