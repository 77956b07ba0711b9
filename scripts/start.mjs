// `npm start [-- --once]`: installs, builds, starts everything on this machine, runs one generation on the demo data,
// prints its audit, and stays up. With --once it ends after the generation.
import { ensureInstalled } from "./install.mjs";
import { build } from "./build.mjs";
import { startServices } from "./services.mjs";
import { startProcesses } from "./processes.mjs";
import { openDemo } from "./demo.mjs";
import { printGeneration, printWelcome } from "./print.mjs";

const ECHO_MS = 500;
const once = process.argv.includes("--once");
const unknown = process.argv.slice(2).filter((argument) => argument !== "--once");
if (unknown.length > 0) {
  console.error(`unknown argument ${unknown.join(" ")}. Usage: npm start [-- --once]`);
  process.exit(2);
}

await ensureInstalled();
await build();
const startedAt = performance.now();
const services = await startServices().catch(explainStart);
const { migrate } = await import("../db/dist/src/index.js");
let processes = null;
let ending = null;
let interruptedAt = null;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
void services.stopped.then(() => fail(new Error("the private servers have stopped; see .data/guard.log")));

try {
  const ran = await migrate(services.databaseUrl).catch(explainDatabase);
  if (ran.length > 0) console.log(`database: ${ran.length} migrations ran`);
  processes = await startProcesses(services, (name, code) =>
    fail(new Error(`the ${name} ended with ${code}; see .data/${name}.log`)),
  );
  console.log(
    `ready in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s at ${processes.url}, queue on ${services.redisUrl ? "Redis" : "PostgreSQL"}`,
  );
  const demo = await openDemo(services, processes.url);
  const generation = await demo.generate();
  printGeneration(generation);
  if (once) await end(generation.status === "completed" ? 0 : 1);
  else printWelcome(processes.url, demo, services);
} catch (error) {
  fail(error);
}

function fail(error) {
  if (ending !== null) return;
  console.error(error instanceof Error ? error.message : error);
  void end(1);
}

/** npm passes Ctrl-C on although the terminal has sent it already, so the second signal is not always a second wish. */
function interrupt() {
  if (interruptedAt !== null && performance.now() - interruptedAt > ECHO_MS) process.exit(130);
  if (interruptedAt !== null) return;
  interruptedAt = performance.now();
  if (ending === null) console.log("draining: running generations may end; Ctrl-C again stops at once");
  void end(0);
}

/** Drains the processes first, then stops the servers they use. */
function end(code) {
  ending ??= (async () => {
    await processes?.stop();
    await services.stop();
    process.exit(code);
  })();
  return ending;
}

function explainDatabase(error) {
  throw new Error(`the database cannot be used: ${error.message}`, { cause: error });
}

function explainStart(error) {
  console.error(error.message);
  process.exit(1);
}
