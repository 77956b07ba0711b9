import { expect, it, vi } from "vitest";
import { keepRunning, type Runnable } from "./keep-running.ts";

/** A worker whose loop ends as the list says, one entry per start. */
function workerWith(ends: readonly ("fails" | "ends")[]): Runnable & { starts: number } {
  const worker = {
    starts: 0,
    isRunning: () => false,
    run: () => {
      const end = ends[worker.starts];
      worker.starts += 1;
      return end === "fails" ? Promise.reject(new Error("the loop broke")) : Promise.resolve();
    },
  };
  return worker;
}

it("a loop that fails is reported and begun again until it ends by itself", async () => {
  const worker = workerWith(["fails", "fails", "ends"]);
  const onError = vi.fn<(error: Error) => void>();
  keepRunning(worker, { onError, isClosing: () => false }, 1);
  await worker.run();
  expect(worker.starts).toBe(3);
  expect(onError.mock.calls.map(([error]) => error.message)).toEqual(["the loop broke", "the loop broke"]);
});

it("a loop that fails while its worker is closed is not begun again", async () => {
  const worker = workerWith(["fails", "ends"]);
  keepRunning(worker, { onError: () => undefined, isClosing: () => true }, 1);
  await worker.run();
  expect(worker.starts).toBe(1);
});

it("a loop that somebody else has begun meanwhile is left to them", async () => {
  const worker = workerWith(["fails", "ends"]);
  keepRunning(worker, { onError: () => undefined, isClosing: () => false }, 1);
  worker.isRunning = () => true;
  await worker.run();
  expect(worker.starts).toBe(1);
});
