import { encodeId } from "@shiftwork/contracts";
import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { expect, inject, test } from "vitest";
import { openApi } from "../../testing/api-under-test.ts";

test("a client that leaves during a preview ends it, and that is no failure of the service", async () => {
  const lines: string[] = [];
  const seen = new EventEmitter();
  const [begun, ended] = [once(seen, "begun"), once(seen, "ended")];
  const api = await openApi(inject("databaseUrl"), {
    onLogLine: (line) => lines.push(line),
    previewer: {
      preview: (_asked, signal) =>
        new Promise((_resolve, reject) => {
          seen.emit("begun");
          signal.addEventListener("abort", () => (seen.emit("ended"), reject(signal.reason)));
        }),
      close: async () => {},
    },
  });
  const { id, key } = await api.newTenant();
  const chat = (await api.call("POST", "/api/v2/chats", { key, body: {} })).body.id;
  const url = new URL("/api/v2/context-preview", await api.app.listen({ host: "127.0.0.1", port: 0 }));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const client = request(url, { method: "POST", headers }).on("error", () => undefined);
  client.end(JSON.stringify({ chatId: chat, message: "Hi", include: ["content"] }));
  await begun;
  client.destroy();
  await ended;
  await api.close();
  expect(lines.join("")).not.toContain("request failed");
  const logged = lines.map((line) => JSON.parse(line)).filter(({ route }) => route === "/api/v2/context-preview");
  expect(logged).toMatchObject([{ msg: "request", status: null, clientLeft: true, tenantId: encodeId("tenant", id) }]);
});
