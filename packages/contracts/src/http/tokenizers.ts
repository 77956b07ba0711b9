import { CALIBRATION_FACTOR } from "@shiftwork/pipeline";
import { z } from "zod";

/** What estimates were multiplied by, so that they come to what the provider reports. */
export const Calibration = z.strictObject({
  version: z.number().int().min(0),
  factor: z.number().min(CALIBRATION_FACTOR.least).max(CALIBRATION_FACTOR.most),
});

/** What counted: a profile of `GET /tokenizers`, and its calibration, if it has one. */
export const TokenizerFacts = z.object({
  profile: z.string(),
  approximate: z.boolean(),
  calibration: Calibration.optional(),
});
