import { arrayAt, expectOneOf, objectAt } from "./read-json.ts";

/** What `normalizer` does to a text before it is cut: nothing, or Unicode's composition (NFC). */
export function readNormalizer(value: unknown, pointer = "/normalizer"): (text: string) => string {
  if (value === undefined || value === null) return (text) => text;
  const normalizer = objectAt(value, pointer);
  expectOneOf(normalizer, "type", ["NFC", "Sequence"], pointer);
  if (normalizer["type"] === "NFC") return (text) => text.normalize("NFC");
  const steps = arrayAt(normalizer["normalizers"], `${pointer}/normalizers`).map((step, index) =>
    readNormalizer(step, `${pointer}/normalizers/${index}`),
  );
  return (text) => steps.reduce((sofar, step) => step(sofar), text);
}
