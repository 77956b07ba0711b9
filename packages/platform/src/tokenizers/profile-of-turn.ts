import type { Counting } from "@shiftwork/db";
import { calibrated, profileFor, type Profile } from "@shiftwork/pipeline";

/**
 * The profile a turn is counted with, as it was decided when the turn was accepted. `find` looks for the tenant's
 * tokenizer; one that was deleted since leaves the turn to the built-in profile.
 */
export async function profileOfTurn(
  model: string,
  { tokenizerId, calibration }: Counting = { tokenizerId: null, calibration: null },
  find: (tokenizerId: string) => Promise<Profile | null>,
): Promise<Profile> {
  const own = tokenizerId === null ? null : await find(tokenizerId);
  return own ?? calibrated(profileFor(model), calibration);
}
