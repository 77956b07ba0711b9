import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REAL_TEXTS } from "../testing/token-texts.ts";
import { calibrated, CALIBRATION_FACTOR, driftRatio, learn, type Learned } from "./calibration.ts";
import { PROFILES } from "./profiles.ts";

const claude = PROFILES["estimate:claude"];
const english = REAL_TEXTS.english;

/** What is known after as many requests, each estimated with the factor known before it, when `trueRatio` is the truth. */
function after(requests: number, trueRatio: number, from: Learned | null = null): Learned {
  let known = from ?? learn(null, { estimatedTokens: 0, factor: 1, reportedTokens: 0 });
  for (let request = 0; request < requests; request += 1) {
    const estimatedTokens = 10_000 * known.factor;
    known = learn(known, { estimatedTokens, factor: known.factor, reportedTokens: 10_000 * trueRatio });
  }
  return known;
}

describe("a calibration", () => {
  it("multiplies an estimate, once", () => {
    const once = calibrated(claude, { version: 3, factor: 1.2 });
    expect(once.countText(english)).toBe(Math.ceil(claude.countText(english) * 1.2));
    expect(calibrated(once, { version: 4, factor: 1.2 })).toBe(once);
    expect(once).toMatchObject({ id: "estimate:claude", approximate: true, calibration: { version: 3, factor: 1.2 } });
  });

  it("leaves an exact profile as it is, and any without a factor", () => {
    const exact = PROFILES["openai:o200k_base"];
    expect(calibrated(exact, { version: 1, factor: 1.2 })).toBe(exact);
    expect(calibrated(claude, null)).toBe(claude);
  });

  it("never makes a count larger than the text has bytes, nor smaller by being there", () => {
    const most = calibrated(PROFILES["estimate:generic"], { version: 1, factor: CALIBRATION_FACTOR.most });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const [plain, counted] = [PROFILES["estimate:generic"].countText(text), most.countText(text)];
        expect(counted).toBeGreaterThanOrEqual(plain);
        expect(counted).toBeLessThanOrEqual(Math.max(plain, new TextEncoder().encode(text).length));
      }),
      { seed: 2, numRuns: 1_000 },
    );
  });
});

describe("what is learned", () => {
  it("is believed after five requests, not before", () => {
    expect(after(4, 1.5)).toMatchObject({ factor: 1, version: 0, samples: 4 });
    expect(after(5, 1.5)).toMatchObject({ factor: 1.5, version: 1 });
  });

  it("comes to rest a little above what is reported, whatever the truth is, and stays there", () => {
    const truth = fc.double({ min: CALIBRATION_FACTOR.least, max: CALIBRATION_FACTOR.most, noNaN: true });
    fc.assert(
      fc.property(truth, truth, (first, then) => {
        const rest = after(300, then, after(20, first));
        expect(rest.factor).toBeGreaterThanOrEqual(Math.min(then, CALIBRATION_FACTOR.most) - 0.02);
        expect(rest.factor).toBeLessThanOrEqual(then + 0.08);
        expect(after(50, then, rest).version - rest.version).toBeLessThanOrEqual(1);
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it("stays within its bounds and counts each change as a version, whatever is reported", () => {
    const sample = fc.record({
      estimatedTokens: fc.integer({ min: 0, max: 100_000 }),
      factor: fc.double({ min: CALIBRATION_FACTOR.least, max: CALIBRATION_FACTOR.most, noNaN: true }),
      reportedTokens: fc.integer({ min: 0, max: 400_000 }),
    });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 40 }), (samples) => {
        let known: Learned | null = null;
        for (const each of samples) {
          const before: Learned = known ?? { version: 0, factor: 1, ratio: 1, samples: 0 };
          known = learn(known, each);
          expect(known.factor).toBeGreaterThanOrEqual(CALIBRATION_FACTOR.least);
          expect(known.factor).toBeLessThanOrEqual(CALIBRATION_FACTOR.most);
          expect(known.version - before.version).toBe(known.factor === before.factor ? 0 : 1);
        }
      }),
      { seed: 4, numRuns: 500 },
    );
  });

  it("is to the estimate without its factor: what was corrected is not corrected again", () => {
    const settled = after(10, 1.5);
    expect(settled.factor).toBe(1.5);
    const next = learn(settled, { estimatedTokens: 15_000, factor: 1.5, reportedTokens: 15_000 });
    expect(next).toMatchObject({ factor: 1.5, ratio: 1.5 });
  });

  it("rises at once, and sinks slowly", () => {
    const settled = after(10, 1.2);
    expect(after(1, 1.6, settled).factor).toBeGreaterThan(1.2);
    expect(after(3, 1, settled).factor).toBe(settled.factor);
  });

  it.each([
    ["a prompt too short to tell", { estimatedTokens: 199, factor: 1, reportedTokens: 400 }],
    ["a count that cannot be of the same text", { estimatedTokens: 1_000, factor: 1, reportedTokens: 4_001 }],
    ["nothing reported", { estimatedTokens: 1_000, factor: 1, reportedTokens: 0 }],
  ])("takes nothing from %s", (_name, sample) => {
    const known = after(10, 1.2);
    expect(learn(known, sample)).toBe(known);
  });
});

describe("driftRatio", () => {
  const reported = { inputTokens: 2_000, cacheReadTokens: null };

  it("is what was reported to what was estimated", () => {
    expect(driftRatio(3_000, reported)).toBe(0.6667);
    expect(driftRatio(3_000, { ...reported, cacheReadTokens: 0 })).toBe(0.6667);
  });

  it("is not known where either is not, or where a cache was read", () => {
    expect([driftRatio(null, reported), driftRatio(0, reported)]).toEqual([null, null]);
    expect(driftRatio(3_000, { ...reported, inputTokens: null })).toBe(null);
    expect(driftRatio(3_000, { ...reported, cacheReadTokens: 1_500 })).toBe(null);
  });
});
