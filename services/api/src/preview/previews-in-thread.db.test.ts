import { ContextPreview, CreateContextPreview } from "@shiftwork/contracts";
import { loadPlugins } from "@shiftwork/platform";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import type { Caller } from "../auth/caller.ts";
import { openApi, type ApiUnderTest } from "../testing/api-under-test.ts";
import { previewsHere, type Previewer, type PreviewRequest } from "./previewer.ts";
import { previewsInThread, type PreviewsInThread } from "./previews-in-thread.ts";

let api: ApiUnderTest;
let previewer: Previewer;
let caller: Caller;
let chatId: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  const tenant = await api.newTenant();
  caller = { tenantId: tenant.id, everyTenant: false, apiKeyId: "", scopes: [], ownerId: null };
  chatId = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
  previewer = openPreviewer();
});
afterAll(async () => {
  await previewer.close();
  await api.close();
});

function openPreviewer(more: Partial<PreviewsInThread> = {}): Previewer {
  const mostWaiting = { ofTenant: 20, inAll: 200 };
  return previewsInThread({ databaseUrl: api.url, plugins: [], masterKey: null, mostWaiting, ...more });
}

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
  const own = openPreviewer({ masterKey: Buffer.alloc(32, 7) });
  expect(read(await own.preview(asking({ modelCalls: true }), never)).exact).toBe(true);
  await own.close();
});

describe("a thread that", () => {
  const folder = mkdtempSync(join(tmpdir(), "shiftwork-plugin-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A plugin that, as long as the file `flag` is there, removes it and does not let the thread get any further. */
  function faultyOnce(fault: string): { readonly plugin: string; readonly flag: string } {
    const [plugin, flag] = [join(folder, `${fault.length}.mjs`), join(folder, `${fault.length}.flag`)];
    const file = JSON.stringify(flag);
    writeFileSync(flag, "");
    writeFileSync(
      plugin,
      `import { existsSync, rmSync } from "node:fs";
      if (existsSync(${file})) { rmSync(${file}); ${fault} }
      export default {};`,
    );
    return { plugin, flag };
  }

  test.each([
    ["does not come back", "for (;;);", { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 }],
    ["ends", "process.exit(3);", { message: "the thread of previews ended" }],
  ])(
    "%s: who was served by it is told, and who waits is served by another one",
    async (_what, fault, told) => {
      const { plugin, flag } = faultyOnce(fault);
      const own = openPreviewer({ plugins: [plugin], stuckAfterMs: 8_000 });
      const [served, behind] = [own.preview(asking(), never), own.preview(asking(), never)];
      await expect(served).rejects.toMatchObject(told);
      expect(read(await behind).fits).toBe(true);
      expect(existsSync(flag)).toBe(false);
      await own.close();
    },
    40_000,
  );
});

describe("the line", () => {
  const folder = mkdtempSync(join(tmpdir(), "shiftwork-plugin-"));
  const plugin = join(folder, "gate.mjs");
  /** Asked by each preview at work, with the text of its message; the first one is held up. */
  const gate = createServer();
  let own: Previewer;
  let order: string[];
  /** Lets the first preview go on. */
  let open: () => void;

  beforeAll(async () => {
    gate.listen(0, "127.0.0.1");
    await once(gate, "listening");
    const { port } = gate.address() as AddressInfo;
    writeFileSync(
      plugin,
      `export default { interceptors: [{ id: "gate", priority: 0, async intercept(blocks) {
        await fetch("http://127.0.0.1:${port}/" + blocks.at(-1).content);
        return blocks;
      } }] };`,
    );
  });
  beforeEach(() => {
    order = [];
    const opened = new Promise<void>((resolve) => (open = resolve));
    gate.removeAllListeners("request").on("request", ({ url }, response) => {
      order.push((url ?? "").slice(1));
      if (order.length === 1) void opened.then(() => response.end());
      else response.end();
    });
    own = openPreviewer({ plugins: [plugin], mostWaiting: { ofTenant: 4, inAll: 5 } });
  });
  afterEach(() => own.close());
  afterAll(() => {
    gate.close();
    gate.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  /** Makes a request from its message, of one of two tenants by the first letter: each has a chat. */
  async function twoTenants(): Promise<(message: string, more?: object) => PreviewRequest> {
    const other = await api.newTenant();
    const chat = (await api.call("POST", "/api/v2/chats", { key: other.key, body: {} })).body.id;
    return (message, more = {}) => {
      const request = asking({ message, shifts: [], ...more });
      if (message.startsWith("a")) return request;
      return { caller: { ...caller, tenantId: other.id }, body: { ...request.body, chatId: chat } };
    };
  }

  test("goes from tenant to tenant, and who has left it is never begun", async () => {
    const of = await twoTenants();
    const gone = new AbortController();
    const asked = ["a1", "a2", "a3", "a4", "b1", "b2"].map((text) =>
      own.preview(of(text), text === "a3" ? gone.signal : never),
    );
    gone.abort(new Error("gone"));
    open();
    const ends = (await Promise.allSettled(asked)).map(({ status }) => status);
    expect(ends).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
    expect(order).toEqual(["a1", "a2", "b1", "a4", "b2"]);
  });

  test("is as long as it may be for one tenant and for all, those with a model included; then there is room again", async () => {
    const of = await twoTenants();
    const withModel = { modelCalls: true };
    const asked = ["a1", "a2", "a3", "a4"].map((text) => own.preview(of(text), never));
    asked.push(own.preview(of("a5"), never));
    await expect(own.preview(of("a6"), never)).rejects.toMatchObject({
      code: "RATE_LIMITED",
      status: 429,
      params: { maxWaitingPreviews: 4 },
      retryAfterSeconds: 5,
    });
    const models = ["b1", "b2"].map((text) => own.preview(of(text, withModel), never).catch(() => "refused"));
    await expect(own.preview(of("b3"), never)).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      status: 503,
      params: { maxWaitingPreviewsInAll: 5 },
      retryAfterSeconds: 5,
    });
    open();
    await Promise.all([...asked, ...models]);
    expect(read(await own.preview(of("a6"), never)).fits).toBe(true);
  });

  test("ends with the thread: who is at work is told, and so is who waits, and who comes later", async () => {
    const [served, waiting] = [own.preview(asking(), never), own.preview(asking(), never)];
    await expect.poll(() => order.length, { timeout: 20_000 }).toBe(1);
    const shuttingDown = { code: "SHUTTING_DOWN", retryAfterSeconds: 1 };
    await Promise.all([
      expect(served).rejects.toThrow("ended"),
      expect(waiting).rejects.toMatchObject(shuttingDown),
      own.close(),
    ]);
    await expect(own.preview(asking(), never)).rejects.toMatchObject(shuttingDown);
  });
});
