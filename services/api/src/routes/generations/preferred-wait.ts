import { LONGEST_WAIT_SECONDS } from "@shiftwork/contracts";

/**
 * Seconds a caller prefers to wait for the end (`Prefer: wait=30`, RFC 7240), at most the longest there is; `null` = not
 * at all. A preference that cannot be read is ignored, as the RFC has it.
 */
export function preferredWaitSeconds(prefer: string | string[] | undefined): number | null {
  const preferences = [prefer ?? []].flat().flatMap((line) => line.split(","));
  for (const preference of preferences) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(;.*)?$/i.exec(preference)?.[1];
    if (seconds !== undefined) return Math.min(Number(seconds), LONGEST_WAIT_SECONDS);
  }
  return null;
}
