import { execFile } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const run = promisify(execFile);
const SCRIPT = `
  const { startProcesses } = await import("./scripts/processes.mjs");
  const secrets = { masterKey: "", apiKeyPepper: "" };
  await startProcesses({ databaseUrl: "postgres://127.0.0.1:1/none", redisUrl: null, secrets }, () => {});
`;

it("a port that another program has is refused by its number, before anything is started", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const started = run(process.execPath, ["--input-type=module", "--eval", SCRIPT], {
    cwd: new URL("..", import.meta.url),
    env: { ...process.env, PORT: String(port) },
  });
  await expect(started).rejects.toThrow(`port ${port} is in use`);
});
