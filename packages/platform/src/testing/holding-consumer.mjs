// Runs the built package: Node 20 does not run TypeScript.
import { openQueue } from "../../dist/queue/bullmq-queue.js";

const { name, url, lockDurationMs } = JSON.parse(process.argv[2]);
const onError = () => undefined;

await openQueue({ name, url, onError }).consume(hold, { concurrency: 1, lockDurationMs, onError });

async function hold({ generationId, epoch }, signal) {
  say(`started ${generationId}.${epoch}`);
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  say(`aborted ${generationId}.${epoch}: ${signal.reason}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
