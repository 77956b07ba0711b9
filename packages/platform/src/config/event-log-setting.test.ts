import { describe, expect, it } from "vitest";
import { z } from "zod";
import { eventLogKind, redisOfEventLog, withEventLog } from "./event-log-setting.ts";
import { ConfigError, readConfig } from "./read-config.ts";

const Config = z.object({ PORT: z.coerce.number(), REDIS_URL: z.url().optional(), EVENT_LOG: eventLogKind() });
const read = (env: Record<string, string>) => readConfig(withEventLog(Config), { PORT: "1", ...env });
const REDIS_URL = "redis://127.0.0.1:6379/0";

describe("the setting EVENT_LOG", () => {
  it.each([
    [{}, null],
    [{ EVENT_LOG: "postgres" }, null],
    [{ REDIS_URL }, REDIS_URL],
    [{ REDIS_URL, EVENT_LOG: "redis" }, REDIS_URL],
    [{ REDIS_URL, EVENT_LOG: "postgres" }, null],
  ])("with %j sends replies through %s", (env, url) => {
    expect(redisOfEventLog(read(env))).toBe(url);
  });

  it("is refused as redis without a Redis, beside whatever else is wrong", () => {
    const wrong = () => read({ EVENT_LOG: "redis", PORT: "one" });
    expect(wrong).toThrow(ConfigError);
    expect(wrong).toThrow(/PORT is wrong.*\n.*EVENT_LOG is wrong: redis needs REDIS_URL/);
  });

  it("is refused as anything else", () => {
    expect(() => read({ EVENT_LOG: "kafka" })).toThrow(/EVENT_LOG is wrong/);
  });
});
