import { runOrExit, tool } from "./run-command.mjs";

/** Builds every package that changed. Ends the process when one does not compile. */
export async function build() {
  await runOrExit(tool("turbo"), ["run", "build", "--output-logs=errors-only", "--log-prefix=none"]);
}
