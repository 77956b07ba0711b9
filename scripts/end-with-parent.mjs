// Loaded before a service that `npm start` runs: its standard input is a pipe from the launcher, which closes when the
// launcher is gone, however it went.
const KILL_AFTER_MS = 10_000;

process.stdin.on("close", () => {
  process.kill(process.pid, "SIGTERM");
  setTimeout(() => process.exit(1), KILL_AFTER_MS).unref();
});
process.stdin.resume();
process.stdin.unref();
