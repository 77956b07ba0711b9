import { ContextPreview, CreateContextPreview } from "@shiftwork/contracts";
import { loadPlugins } from "@shiftwork/platform";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { Caller } from "../auth/caller.ts";
import { openApi, type ApiUnderTest } from "../testing/api-under-test.ts";
import { previewsHere, type Previewer, type PreviewRequest } from "./previewer.ts";
import { previewsInThread } from "./previews-in-thread.ts";

let api: ApiUnderTest;
let previewer: Previewer;
let caller: Caller;
let chatId: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  const tenant = await api.newTenant();
  caller = { tenantId: tenant.id, apiKeyId: "", scopes: [], ownerId: null };
  chatId = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
  previewer = previewsInThread({ databaseUrl: api.url, plugins: [], masterKey: null });
});
afterAll(async () => {
  await previewer.close();
  await api.close();
});

const never = new AbortController().signal;
const asking = (more: object = {}): PreviewRequest => ({
  caller,
  body: CreateContextPreview.parse({ chatId, message: "Hi", shifts: [{ contextStrategy: "summarize" }], ...more }),
});
const read = (json: Uint8Array) => ContextPreview.parse(JSON.parse(new TextDecoder().decode(json)));

test("a preview of the thread is the one this thread would make", async () => {
  const here = previewsHere({ db: api.database.db, plugins: await loadPlugins([]), masterKey: null });
  const [there, own] = [await previewer.preview(asking(), never), await here.preview(asking(), never)];
  expect(read(there).assembly.hash).toBe(read(own).assembly.hash);
  expect(read(there).shifts).toEqual(read(own).shifts);
});

test("what the thread refuses is the same problem here", async () => {
  const missing = asking({ chatId: `chat_${"0".repeat(32)}` });
  await expect(previewer.preview(missing, never)).rejects.toMatchObject({ code: "CHAT_NOT_FOUND", status: 404 });
  const unknown = asking({ shifts: [{ contextStrategy: "magic" }] });
  await expect(previewer.preview(unknown, never)).rejects.toMatchObject({
    code: "STRATEGY_UNKNOWN",
    errors: [{ pointer: "/shifts/0/contextStrategy" }],
  });
});

test("who goes away does not wait, and the next one is served", async () => {
  const gone = new AbortController();
  const asked = previewer.preview(asking(), gone.signal);
  gone.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await expect(previewer.preview(asking(), gone.signal)).rejects.toThrow("gone");
  expect(read(await previewer.preview(asking(), never)).fits).toBe(true);
});

test("when the thread ends, those who wait are told, and another one starts", async () => {
  const asked = previewer.preview(asking(), never);
  await Promise.all([expect(asked).rejects.toThrow("ended"), previewer.close()]);
  expect(read(await previewer.preview(asking(), never)).fits).toBe(true);
});

test("another tenant's chat is missing in the thread too", async () => {
  const other = await api.newTenant();
  const request = { ...asking(), caller: { ...caller, tenantId: other.id } };
  await expect(previewer.preview(request, never)).rejects.toMatchObject({ code: "CHAT_NOT_FOUND" });
});

test("an API without a master key refuses to call a model, and names the field", async () => {
  const refused = previewer.preview(asking({ modelCalls: true }), never);
  await expect(refused).rejects.toMatchObject({ code: "VALIDATION_FAILED", errors: [{ pointer: "/modelCalls" }] });
});

test("a master key reaches the thread as it was read at start", async () => {
  const own = previewsInThread({ databaseUrl: api.url, plugins: [], masterKey: Buffer.alloc(32, 7) });
  expect(read(await own.preview(asking({ modelCalls: true }), never)).exact).toBe(true);
  await own.close();
});

/** Never comes back once a text tells it so; it blocks its whole thread, so no timer of that thread helps. */
const STUCK_PLUGIN = `export default { interceptors: [{ id: "stuck", priority: 0, intercept(blocks) {
  while (blocks.some(({ content }) => content.includes("hang"))) {}
  return blocks;
} }] };`;

test("a thread that does not come back is ended, those who wait for it are told, and another one starts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shiftwork-plugin-"));
  const plugin = join(folder, "stuck.mjs");
  writeFileSync(plugin, STUCK_PLUGIN);
  const own = previewsInThread({ databaseUrl: api.url, plugins: [plugin], masterKey: null }, 3_000);
  const [hanging, behind] = [own.preview(asking({ message: "hang" }), never), own.preview(asking(), never)];
  const told = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 };
  await Promise.all([hanging, behind].map((asked) => expect(asked).rejects.toMatchObject(told)));
  expect(read(await own.preview(asking(), never)).fits).toBe(true);
  await own.close();
  rmSync(folder, { recursive: true });
}, 20_000);
