import { expect, test } from "vitest";
import { createSignal } from "./signal.ts";

test("what was raised while nobody waited wakes the next wait, once", async () => {
  const signal = createSignal();
  signal.raise();
  signal.raise();
  expect(await signal.wait(1_000)).toBe(true);
  expect(await signal.wait(1)).toBe(false);
});

test("a raise and a close wake whoever waits", async () => {
  const signal = createSignal();
  const raised = signal.wait(10_000);
  signal.raise();
  expect(await raised).toBe(true);
  const closed = signal.wait(10_000);
  signal.close("gone");
  expect(await closed).toBe(true);
});

test("the first reason of a close stays, and listeners hear of it once, late ones too", () => {
  const signal = createSignal();
  const heard: string[] = [];
  signal.onClose(() => heard.push("early"));
  const takeBack = signal.onClose(() => heard.push("taken back"));
  takeBack();
  signal.close("drain");
  signal.close("gone");
  signal.onClose(() => heard.push("late"));
  expect([signal.closed, heard]).toEqual(["drain", ["early", "late"]]);
});
