import { existsSync, readFileSync } from "node:fs";

const SAMPLES = new URL("../../../../../shared/samples/", import.meta.url);
const FIXTURES = new URL("../../fixtures/", import.meta.url);

/** Real files of other projects stay outside the repository; tests over them run where the folder stands beside it. */
export const samplesArePresent = existsSync(SAMPLES);

export function sampleFile(name: string): Uint8Array {
  return readFileSync(new URL(name, SAMPLES));
}

export function fixtureFile(name: string): Uint8Array {
  return readFileSync(new URL(name, FIXTURES));
}
