import { learn, type Calibration, type CountSample, type Learned } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** What was learned of: a model at a provider, estimated by one version of a profile. */
export interface CalibrationPlace {
  readonly providerId: string;
  readonly model: string;
  readonly profile: string;
  readonly profileVersion: number;
}

/** What estimates are multiplied by from now on; `null` = nothing was learned yet. */
export async function findCalibration(tx: Tx, tenantId: string, place: CalibrationPlace): Promise<Calibration | null> {
  const row = await selectCalibration(tx, tenantId, place).executeTakeFirst();
  return row && row.version > 0 && isOf(row, place) ? { version: row.version, factor: row.factor } : null;
}

/** Learns from one request. A crash may take it along: the next request says the same. */
export async function recordCountSample(
  tx: Tx,
  tenantId: string,
  place: CalibrationPlace,
  sample: CountSample,
): Promise<Learned> {
  await sql`set local synchronous_commit = off`.execute(tx);
  const row = await selectCalibration(tx, tenantId, place).forUpdate().executeTakeFirst();
  const known = row && isOf(row, place) ? row : null;
  const next = learn(known ?? (row ? startOver(row) : null), sample);
  const values = {
    profile: place.profile,
    profile_version: place.profileVersion,
    version: next.version,
    factor: next.factor,
    ratio: next.ratio,
    samples: next.samples,
    updated_at: sql<Date>`now()`,
  };
  const { providerId, model } = place;
  const insert = tx
    .insertInto("token_calibrations")
    .values({ tenant_id: tenantId, provider_id: providerId, model, ...values });
  // Who inserted at the same time has learned the same: this request is one of many.
  if (!row) await insert.onConflict((conflict) => conflict.doNothing()).execute();
  else await updateCalibration(tx, tenantId, place).set(values).execute();
  return next;
}

/** Another profile: nothing is known of it, and a version is never used twice. */
function startOver({ version }: Learned): Learned {
  return { version: version + 1, factor: 1, ratio: 1, samples: 0 };
}

function isOf(row: CalibrationPlace, { profile, profileVersion }: CalibrationPlace): boolean {
  return row.profile === profile && row.profileVersion === profileVersion;
}

function selectCalibration(tx: Tx, tenantId: string, { providerId, model }: CalibrationPlace) {
  return tx
    .selectFrom("token_calibrations")
    .select([
      "provider_id as providerId",
      "model",
      "profile",
      "profile_version as profileVersion",
      "version",
      "factor",
      "ratio",
      "samples",
    ])
    .where("tenant_id", "=", tenantId)
    .where("provider_id", "=", providerId)
    .where("model", "=", model);
}

function updateCalibration(tx: Tx, tenantId: string, { providerId, model }: CalibrationPlace) {
  return tx
    .updateTable("token_calibrations")
    .where("tenant_id", "=", tenantId)
    .where("provider_id", "=", providerId)
    .where("model", "=", model);
}
