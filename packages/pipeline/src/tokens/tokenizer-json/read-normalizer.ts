import { arrayAt, expectOneOf, objectAt } from "./read-json.ts";

/** Whether `normalizer` composes a text before it is cut (Unicode's NFC); it does that or nothing. */
export function composesText(value: unknown, pointer = "/normalizer"): boolean {
  if (value === undefined || value === null) return false;
  const normalizer = objectAt(value, pointer);
  expectOneOf(normalizer, "type", ["NFC", "Sequence"], pointer);
  if (normalizer["type"] === "NFC") return true;
  const steps = arrayAt(normalizer["normalizers"], `${pointer}/normalizers`).map((step, index) =>
    composesText(step, `${pointer}/normalizers/${index}`),
  );
  return steps.includes(true);
}
