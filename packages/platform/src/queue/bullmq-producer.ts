import { setTimeout as wait } from "node:timers/promises";
import type { Producer } from "./bullmq-backend.ts";

const READY_TIMEOUT_MS = 2_000;

/** The queue's server cannot be reached, or did not answer. The caller's rows are safe: they are dispatched later. */
export class QueueUnavailableError extends Error {
  override readonly name = "QueueUnavailableError";
}

/** A producer that is opened on first use and opened again when its first connection failed. */
export interface KeptProducer {
  /**
   * Runs one command.
   * @throws QueueUnavailableError within about two seconds when the server is down; never waits for its return.
   */
  use<T>(command: (queue: Producer["queue"]) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** BullMQ keeps a rejected first connection for ever, so the object has to be replaced, not waited for. */
export function keepProducer(open: () => Producer): KeptProducer {
  let kept: Producer | null = null;
  let closing: Promise<void> | null = null;

  async function ready(producer: Producer): Promise<void> {
    if (!producer.isReachable()) throw new Error("the connection is down");
    const giveUp = new AbortController();
    const connected = producer.queue.waitUntilReady().catch((error: unknown) => {
      if (kept === producer) kept = null;
      void producer.close().catch(() => undefined);
      throw error;
    });
    const late = wait(READY_TIMEOUT_MS, undefined, { signal: giveUp.signal }).then(() => {
      throw new Error(`no connection after ${READY_TIMEOUT_MS} ms`);
    });
    try {
      await Promise.race([connected, late]);
    } finally {
      giveUp.abort();
      connected.catch(() => undefined);
      late.catch(() => undefined);
    }
  }

  return {
    use: async (command) => {
      if (closing !== null) throw new QueueUnavailableError("the queue is closed");
      kept ??= open();
      const producer = kept;
      try {
        await ready(producer);
        return await command(producer.queue);
      } catch (error) {
        throw new QueueUnavailableError("the queue cannot be reached", { cause: error });
      }
    },
    close: () => {
      closing ??= kept?.close() ?? Promise.resolve();
      return closing;
    },
  };
}
