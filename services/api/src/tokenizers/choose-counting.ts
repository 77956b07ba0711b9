import { findCalibration, listTokenizers, type Counting, type TokenizerRow, type Tx } from "@shiftwork/db";
import { countsForModel, profileFor, type Calibration } from "@shiftwork/pipeline";

/** Where a turn goes, and what a preview promised it would be counted with; `undefined` = nothing was promised. */
export interface CountedTurn {
  readonly providerId: string;
  readonly model: string;
  readonly promised?: Calibration | null | undefined;
}

/** Decides what a turn is counted with: the tenant's own tokenizer, else an exact profile, else a calibrated estimate. */
export async function chooseCounting(
  tx: Tx,
  tenantId: string,
  { providerId, model, promised }: CountedTurn,
): Promise<Counting> {
  const own = await findTokenizerFor(tx, tenantId, model);
  if (own !== null) return { tokenizerId: own.id, calibration: null };
  const { approximate, id: profile, version: profileVersion } = profileFor(model);
  if (!approximate) return { tokenizerId: null, calibration: null };
  if (promised !== undefined) return { tokenizerId: null, calibration: promised };
  const place = { providerId, model, profile, profileVersion };
  return { tokenizerId: null, calibration: await findCalibration(tx, tenantId, place) };
}

/** The tenant's tokenizer that counts for a model, the newest first; `null` = none does. */
export async function findTokenizerFor(tx: Tx, tenantId: string, model: string): Promise<TokenizerRow | null> {
  const tokenizers = await listTokenizers(tx, tenantId);
  return tokenizers.find(({ models }) => countsForModel(models, model)) ?? null;
}

/** Whether a margin is kept because counts may be wrong. */
export function isApproximate(model: string, counting: Counting | undefined): boolean {
  return (counting?.tokenizerId ?? null) === null && profileFor(model).approximate;
}
