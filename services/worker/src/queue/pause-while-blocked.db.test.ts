import { Writable } from "node:stream";
import { newId } from "@shiftwork/db";
import { createLogger, openQueue } from "@shiftwork/platform";
import { expect, inject, it, onTestFinished } from "vitest";
import { pauseWhileBlocked } from "./pause-while-blocked.ts";

const LIMIT_MS = 200;

/** What happens in this order: lines of the log and, as "job", jobs that run. `until` resolves with the next of its kind. */
function chronicle() {
  const happened: string[] = [];
  const waiting = new Map<string, () => void>();
  const note = (what: string): void => {
    happened.push(what);
    waiting.get(what)?.();
  };
  const until = (what: string): Promise<void> => new Promise((resolve) => waiting.set(what, resolve));
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      note(/event loop (\w+)/.exec(line.toString())?.[1] ?? line.toString());
      done();
    },
  });
  return { happened, note, until, logger: createLogger({ level: "info", name: "test", destination }) };
}

async function guarded() {
  const { happened, note, until, logger } = chronicle();
  const url = inject("redisUrl") ?? inject("databaseUrl");
  const queue = openQueue({ name: `test-${newId()}`, url, onError: () => {} });
  const consumer = await queue.consume(async () => note("job"), { concurrency: 2, onError: () => {} });
  const guard = pauseWhileBlocked({ consumer, limitMs: LIMIT_MS, logger });
  onTestFinished(async () => {
    guard.stop();
    await queue.close();
  });
  const add = () => queue.add([{ tenantId: newId(), generationId: newId(), epoch: 1, priority: 1 }]);
  const ranOne = until("job");
  await add();
  await ranOne;
  happened.length = 0;
  return { add, happened, until };
}

function blockTheLoop(forMs: number): void {
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs);
}

it("a consumer whose event loop was blocked takes no job until it is calm again", async () => {
  const { add, happened, until } = await guarded();
  const [blocked, job] = [until("blocked"), until("job")];
  blockTheLoop(2 * LIMIT_MS);
  await blocked;
  await add();
  await job;
  expect(happened[0]).toBe("blocked");
  expect(happened.at(-2)).toBe("calm");
});

it("a consumer whose event loop is blocked again and again says so once, and once that it is calm", async () => {
  const { happened, until } = await guarded();
  const [blocked, calm] = [until("blocked"), until("calm")];
  blockTheLoop(2 * LIMIT_MS);
  await blocked;
  for (let blocks = 0; blocks < 3; blocks += 1) {
    await new Promise(setImmediate);
    blockTheLoop(2 * LIMIT_MS);
  }
  await calm;
  expect(happened).toEqual(["blocked", "calm"]);
});
