import { jobId } from "@shiftwork/contracts";
import { backendFor, PORT_STATES, type Producer } from "./bullmq-backend.ts";
import { consumeJobs } from "./bullmq-consumer.ts";
import { keepProducer } from "./bullmq-producer.ts";
import type { Queue, QueueConsumer, QueuedJob } from "./queue.ts";

/** BullMQ's largest priority. */
const LOWEST_PRIORITY = 2_097_151;

export interface QueueOptions {
  /** Name of the queue; without a colon. */
  readonly name: string;
  /** `redis://…` or `postgres://…`, with password and database. */
  readonly url: string;
  /** Told of connection errors of the producing side. */
  readonly onError: (error: Error) => void;
}

/**
 * The queue on BullMQ. Opens no connection before its first use, so a process starts while the queue's server is down.
 * `add`, `state` and `remove` throw {@link QueueUnavailableError} soon when it is, and work again when it is back.
 * @throws TypeError when the URL is of no known kind.
 */
export function openQueue({ name, url, onError }: QueueOptions): Queue {
  const backend = backendFor(url);
  const consumers = new Set<QueueConsumer>();
  const producer = keepProducer(() => backend.openProducer(name, onError));
  return {
    backend: backend.kind,
    add: async (jobs) => {
      const entries = jobs.map(toEntry);
      if (entries.length > 0) await producer.use((queue) => queue.addBulk(entries));
    },
    state: (job) => producer.use(async (queue) => PORT_STATES[await queue.getJobState(jobId(job))]),
    remove: (job) => producer.use((queue) => removeWaiting(queue, jobId(job))),
    consume: async (handler, options) => {
      const consumer = await consumeJobs(backend, name, handler, options);
      consumers.add(consumer);
      return consumer;
    },
    close: async () => {
      await Promise.all([...consumers].map((consumer) => consumer.close()));
      await producer.close();
    },
  };
}

function toEntry({ tenantId, generationId, epoch, priority }: QueuedJob) {
  if (!Number.isInteger(priority) || priority < 1) {
    throw new RangeError(
      `priority is a whole number from 1, not ${priority}: an unprioritised job overtakes all others`,
    );
  }
  return {
    name: "generation",
    data: { tenantId, generationId, epoch },
    opts: { jobId: jobId({ generationId, epoch }), priority: Math.min(priority, LOWEST_PRIORITY), attempts: 1 },
  };
}

/** The state is asked for first: what `remove` returns for an unknown id depends on the backend. */
async function removeWaiting(queue: Producer["queue"], id: string): Promise<boolean> {
  if (PORT_STATES[await queue.getJobState(id)] !== "waiting") return false;
  return (await queue.remove(id)) === 1;
}
