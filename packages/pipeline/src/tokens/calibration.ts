import type { Profile } from "./profile.ts";
import { rememberedCount } from "./remembered-count.ts";

/** What an estimate is multiplied by. */
export interface Calibration {
  /** Grows whenever the factor changes. */
  readonly version: number;
  readonly factor: number;
}

/** What was learned of a model's counts so far. */
export interface Learned extends Calibration {
  /** Reported tokens to estimated ones, as of a request that is neither the best nor the worst. */
  readonly ratio: number;
  readonly samples: number;
}

/** One request: what we counted, with which factor, and what the provider says it was. */
export interface CountSample {
  readonly estimatedTokens: number;
  readonly factor: number;
  readonly reportedTokens: number;
}

/** Bounds of a factor: an estimate errs high, by a fifth at most for any language; an unknown vocabulary may be far off. */
export const CALIBRATION_FACTOR = { least: 0.8, most: 2 } as const;

const encoder = new TextEncoder();
const NOTHING_LEARNED: Learned = { version: 0, factor: 1, ratio: 1, samples: 0 };
/** Requests before anything is believed. */
const LEAST_SAMPLES = 5;
/** Below, the framing of one message more or less, which nobody publishes, says more than the text. */
const SMALLEST_SAMPLE_TOKENS = 200;
/** Beyond, the two cannot be counts of the same text. */
const WIDEST_RATIO = 4;
// Too little is worse than too much: the ratio rises at once and sinks slowly.
const [RISING_SHARE, SINKING_SHARE] = [1 / 4, 1 / 32];
/** A factor is one of these steps, rounded up, and goes down only when it is this much too high: versions stay few. */
const [STEPS, SLACK] = [50, 0.05];

/** The profile with its counts multiplied. An exact one stays as it is, and so does one that has a factor already. */
export function calibrated(profile: Profile, calibration: Calibration | null): Profile {
  if (!profile.approximate || profile.calibration !== undefined || calibration === null) return profile;
  const { factor } = calibration;
  return { ...profile, calibration, countText: (text) => multiplied(rememberedCount(profile, text), factor, text) };
}

/** No vocabulary has more tokens than bytes: what was left uncounted relies on it (`upperBoundTokens`). */
function multiplied(tokens: number, factor: number, text: string): number {
  const product = Math.ceil(tokens * factor);
  if (product <= text.length) return product;
  return Math.min(product, Math.max(tokens, encoder.encode(text).length));
}

/**
 * What is known after one more request. Its ratio is to the estimate without its factor, so that what was corrected once
 * is not corrected again; at rest the corrected estimate is what is reported. A sample that says nothing changes nothing.
 */
export function learn(known: Learned | null, sample: CountSample): Learned {
  const before = known ?? NOTHING_LEARNED;
  const ratio = ratioOf(sample);
  if (ratio === null) return before;
  const samples = before.samples + 1;
  const next = before.samples === 0 ? ratio : approach(before.ratio, ratio);
  const factor = samples < LEAST_SAMPLES ? before.factor : factorFor(next, before.factor);
  return { ratio: next, samples, factor, version: before.version + (factor === before.factor ? 0 : 1) };
}

/** What a provider reports of a request. */
export interface ReportedTokens {
  readonly inputTokens: number | null;
  readonly cacheReadTokens: number | null;
}

/** The reported count of a whole prompt; `null` = unknown: some providers do not count what came from a cache. */
export function reportedPromptTokens({ inputTokens, cacheReadTokens }: ReportedTokens): number | null {
  return cacheReadTokens === null || cacheReadTokens === 0 ? inputTokens : null;
}

/** The reported count of a prompt to ours, to four digits; `null` when either is not known. */
export function driftRatio(estimatedTokens: number | null, reported: ReportedTokens): number | null {
  const reportedTokens = reportedPromptTokens(reported);
  if (!estimatedTokens || reportedTokens === null) return null;
  return Math.round((reportedTokens / estimatedTokens) * 10_000) / 10_000;
}

function ratioOf({ estimatedTokens, factor, reportedTokens }: CountSample): number | null {
  if (estimatedTokens < SMALLEST_SAMPLE_TOKENS) return null;
  const ratio = (reportedTokens / estimatedTokens) * factor;
  return ratio > 1 / WIDEST_RATIO && ratio < WIDEST_RATIO ? ratio : null;
}

function approach(from: number, to: number): number {
  return from + (to - from) * (to > from ? RISING_SHARE : SINKING_SHARE);
}

function factorFor(ratio: number, factor: number): number {
  if (ratio <= factor && ratio >= factor - SLACK) return factor;
  const step = Math.ceil(ratio * STEPS) / STEPS;
  return Math.min(CALIBRATION_FACTOR.most, Math.max(CALIBRATION_FACTOR.least, step));
}
