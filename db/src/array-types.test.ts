import fc from "fast-check";
import { expect, it } from "vitest";
import { readArray, writeArray } from "./array-types.ts";

it("an array is read as it was written, whatever its items hold", () => {
  const item = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "NULL", '"', "\\", "{a,b}", "a\nb"),
    fc.constant(null),
  );
  const check = fc.property(fc.array(item), (items) => {
    expect(readArray(writeArray(items))).toEqual(items);
  });
  fc.assert(check, { seed: 1 });
});

it("an array is read as the server writes it", () => {
  expect(readArray('{chats:*,"two words",NULL,"NULL","a\\"b\\\\c",""}')).toEqual([
    "chats:*",
    "two words",
    null,
    "NULL",
    'a"b\\c',
    "",
  ]);
  expect(readArray("{}")).toEqual([]);
});
