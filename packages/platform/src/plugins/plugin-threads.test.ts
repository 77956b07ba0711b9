import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPluginThreads } from "./plugin-threads.ts";

const folder = mkdtempSync(join(tmpdir(), "plugins-"));
/** Answers only when the test says so. */
const gate = createServer();
let url: string;

beforeAll(async () => {
  gate.listen(0, "127.0.0.1");
  await once(gate, "listening");
  const file = join(folder, "waits.mjs");
  writeFileSync(
    file,
    `const waits = async () => { await fetch("http://127.0.0.1:${(gate.address() as AddressInfo).port}/"); return []; };
    const answers = () => [];
    const each = (id, intercept) => ({ id, priority: 0, intercept });
    export default { interceptors: [each("waits", waits), each("answers", answers)] };`,
  );
  url = pathToFileURL(file).href;
});
afterAll(() => {
  gate.close();
  gate.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const [WAITS, ANSWERS] = [0, 1].map((index) => ({ type: "intercept", index, blocks: [] }) as const);

it("lets who finds all threads taken wait for one, by arrival", async () => {
  const threads = openPluginThreads({ url }, 1);
  const ended: string[] = [];
  const [arrived, ...others] = [
    once(gate, "request"),
    threads.ask(WAITS!).then(() => ended.push("first")),
    threads.ask(ANSWERS!).then(() => ended.push("second")),
    threads.ask(ANSWERS!).then(() => ended.push("third")),
  ] as const;
  const [, response] = (await arrived) as [unknown, ServerResponse];
  // By the time a thread of others has started and answered, one too many would have answered as well.
  const beside = openPluginThreads({ url }, 1);
  await beside.ask(ANSWERS!);
  expect(ended).toEqual([]);
  response.end();
  await Promise.all(others);
  expect(ended).toEqual(["first", "second", "third"]);
  await Promise.all([threads.close(), beside.close()]);
});

it("takes out of the line who is told to go, and rejects who waits when it is closed", async () => {
  const threads = openPluginThreads({ url }, 1);
  const arrived = once(gate, "request");
  const holding = threads.ask(WAITS!);
  const leaving = new AbortController();
  const left = threads.ask(ANSWERS!, { signal: leaving.signal });
  const waiting = threads.ask(ANSWERS!);
  await arrived;
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await Promise.all([
    expect(holding).rejects.toThrow("ended"),
    expect(waiting).rejects.toThrow("closed"),
    threads.close(),
  ]);
});

it("ends the thread of who is told to go while the plugin is at work", async () => {
  const threads = openPluginThreads({ url }, 1);
  const leaving = new AbortController();
  const arrived = once(gate, "request");
  const asked = threads.ask(WAITS!, { signal: leaving.signal });
  const [, response] = (await arrived) as [unknown, ServerResponse];
  const hungUp = once(response, "close");
  leaving.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await hungUp;
  expect(await threads.ask(ANSWERS!)).toEqual([]);
  await threads.close();
});
