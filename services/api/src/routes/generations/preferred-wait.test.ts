import { expect, test } from "vitest";
import { preferredWaitSeconds } from "./preferred-wait.ts";

test.each([
  [undefined, null],
  ["", null],
  ["respond-async", null],
  ["wait", null],
  ["wait=soon", null],
  ["wait=-3", null],
  ["wait=0", 0],
  ["wait=30", 30],
  ["WAIT = 30", 30],
  ['wait="30"; strict', 30],
  ["respond-async, wait=10", 10],
  [["handling=lenient", "wait=7"], 7],
  ["wait=5, wait=9", 5],
  ["wait=86400", 60],
])("Prefer: %j waits %s seconds", (header, seconds) => {
  expect(preferredWaitSeconds(header)).toBe(seconds);
});
