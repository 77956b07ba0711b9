/**
 * A deterministic stand-in for a clock: units are program instructions × characters, the worst a linear-time engine can
 * be made to do (about 40 ns each on one 2020s core).
 */
export interface Work {
  /** Takes the units if they are still there. */
  take(units: number): boolean;
}

/** Units all patterns of one scan may use together: about two seconds at the worst, milliseconds as a rule. */
export const SCAN_WORK_UNITS = 50_000_000;
/** Units spent to explain a miss by older history; when they are gone the entry counts as not matched at all. */
export const HINDSIGHT_WORK_UNITS = 5_000_000;
/** Units one pattern may use on one text, so that a single hostile key cannot use up the share of all others. */
export const PATTERN_WORK_UNITS = 10_000_000;

/** A fresh allowance of `units`. */
export function workAllowance(units: number): Work {
  let left = units;
  return {
    take(wanted) {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
  };
}
