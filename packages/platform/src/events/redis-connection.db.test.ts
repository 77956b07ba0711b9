import { rmSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import type { ServerProcess } from "../embedded/server-process.ts";
import { startRedis } from "../embedded/start-redis.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { connectRedis } from "./redis-connection.ts";

const SLOW = { timeout: 10_000 };

describe.skipIf(inject("redisUrl") === null)("a connection to Redis (needs one)", () => {
  // Of its own: other tests need a server that is nobody's replica.
  const dir = temporaryFolder();
  const servers: ServerProcess[] = [];
  let url: string;
  let admin: Redis;

  beforeAll(async () => {
    const onSpawn = (server: ServerProcess) => void servers.push(server);
    url = (await startRedis({ dir, fast: true, signal: new AbortController().signal, onSpawn })) ?? "";
    admin = new Redis(url);
  });
  afterAll(async () => {
    admin.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(dir, { recursive: true });
  });

  function connect(as = url) {
    const connection = connectRedis({ url: as, name: "test", onError: () => {} });
    onTestFinished(() => connection.close());
    return connection;
  }

  it("is made anew when its server says that it was demoted", async () => {
    const connection = connect();
    const connectionId = () => connection.ask((client) => client.client("ID"));
    const demoted = await vi.waitFor(connectionId, SLOW);
    await admin.replicaof("127.0.0.1", "1");
    await expect(connection.ask((client) => client.set("key", "value"))).rejects.toMatchObject({
      name: "FramesUnavailableError",
    });
    await admin.replicaof("NO", "ONE");
    await vi.waitFor(async () => expect(await connectionId()).not.toBe(demoted), SLOW);
    expect(await connection.ask((client) => client.set("key", "value"))).toBe("OK");
  });

  it("stays when a command is refused for another reason", async () => {
    const connection = connect();
    const connectionId = () => connection.ask((client) => client.client("ID"));
    const before = await vi.waitFor(connectionId, SLOW);
    await admin.set("text", "not a stream");
    await expect(connection.ask((client) => client.xlen("text"))).rejects.toThrow("does not take");
    expect(await connectionId()).toBe(before);
  });

  it("asks again which server it has when that was not answered", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    await admin.acl("SETUSER", "blind", "on", ">secret", "~*", "&*", "+@all", "-info");
    const blind = Object.assign(new URL(url), { username: "blind", password: "secret" });
    const connection = connect(blind.href);
    await vi.waitFor(() => connection.ask((client) => client.ping()), SLOW);
    expect(connection.serverId).toBe("");
    await admin.acl("SETUSER", "blind", "+info");
    await connection.ask((client) => client.ping());
    await vi.waitFor(() => expect(connection.serverId).toMatch(/^\w{40}$/), SLOW);
  });
});
