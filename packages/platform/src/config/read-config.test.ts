import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeConfig, envExample } from "./describe-config.ts";
import { flag, list, milliseconds, port } from "./fields.ts";
import { maskConfig } from "./mask-config.ts";
import { ConfigError, readConfig } from "./read-config.ts";

const Config = z.object({
  DATABASE_URL: z.url().describe("postgres://user:password@host/database"),
  REDIS_URL: z.url().optional(),
  MASTER_KEY: z.base64().describe("32 random bytes"),
  PORT: port().default(8080).describe("Port of the API"),
  TRUST_PROXY: flag().default(false),
  IDLE_MS: milliseconds().describe("Longest silence").default(1_000),
  LICENSE: z.string().meta({ secret: true }).default("none"),
});
const GOOD = { DATABASE_URL: "postgres://me:hidden@db/app", MASTER_KEY: "c2VjcmV0" };

describe("readConfig", () => {
  it("reads values and fills in defaults", () => {
    expect(readConfig(Config, { ...GOOD, PORT: "0", TRUST_PROXY: "off", UNKNOWN: "ignored" })).toEqual({
      ...GOOD,
      PORT: 0,
      TRUST_PROXY: false,
      IDLE_MS: 1_000,
      LICENSE: "none",
    });
  });

  it("takes an empty value for one that is not set", () => {
    expect(readConfig(Config, { ...GOOD, PORT: "", REDIS_URL: "" })).toMatchObject({ PORT: 8080 });
  });

  it("lists every wrong setting with its problem and its fix", () => {
    const error = problemsOf({ DATABASE_URL: "not a url", PORT: "70000", IDLE_MS: "1.5" });
    expect(error.problems.map(({ variable }) => variable)).toEqual(["DATABASE_URL", "MASTER_KEY", "PORT", "IDLE_MS"]);
    expect(error.message).toContain("4 settings are wrong");
    expect(error.message).toContain("MASTER_KEY is not set. Set MASTER_KEY or MASTER_KEY_FILE: 32 random bytes");
    expect(error.message).toMatch(/PORT is wrong: .*65535.*Port of the API; default 8080/);
  });

  it("never repeats a value", () => {
    const error = problemsOf({ ...GOOD, DATABASE_URL: "hunter2", MASTER_KEY: "hunter2 too!" });
    expect(error.message).not.toContain("hunter2");
  });

  it("reads NAME_FILE without the newline at its end", () => {
    const { MASTER_KEY, ...rest } = readConfig(
      z.object({ MASTER_KEY: z.string().startsWith("import"), PORT: port().default(1) }),
      { MASTER_KEY_FILE: import.meta.filename },
    );
    expect(MASTER_KEY.endsWith("}")).toBe(true);
    expect(rest).toEqual({ PORT: 1 });
  });

  it("names a file that cannot be read, once", () => {
    const error = problemsOf({ DATABASE_URL: GOOD.DATABASE_URL, MASTER_KEY_FILE: "/does/not/exist" });
    expect(error.problems).toEqual([
      {
        variable: "MASTER_KEY",
        problem: "cannot be read (ENOENT)",
        fix: "MASTER_KEY_FILE has to name a readable file",
      },
    ]);
  });

  it("refuses a value that is given directly and by file", () => {
    const error = problemsOf({ ...GOOD, MASTER_KEY_FILE: import.meta.filename });
    expect(error.problems.map(({ problem }) => problem)).toEqual(["is set twice"]);
  });

  it("reads names separated by commas; not set is none", () => {
    const Names = z.object({ PLUGINS: list() });
    expect(readConfig(Names, { PLUGINS: " ./a.mjs, b ,, " })).toEqual({ PLUGINS: ["./a.mjs", "b"] });
    expect(readConfig(Names, {})).toEqual({ PLUGINS: [] });
  });

  it("reports a rule between settings", () => {
    const Pair = z.object({ LOW: port(), HIGH: port() }).refine(({ LOW, HIGH }) => LOW < HIGH, "LOW is below HIGH");
    expect(() => readConfig(Pair, { LOW: "2", HIGH: "1" })).toThrow(
      "the settings do not fit together: LOW is below HIGH",
    );
  });
});

describe("maskConfig", () => {
  it("hides secrets, by name or by mark, and passwords in URLs", () => {
    const masked = maskConfig(Config, readConfig(Config, { ...GOOD, REDIS_URL: "redis://:hidden@cache:6379/0" }));
    expect(masked).toMatchObject({
      DATABASE_URL: "postgres://me:***@db/app",
      REDIS_URL: "redis://:***@cache:6379/0",
      MASTER_KEY: "***",
      LICENSE: "***",
      PORT: 8080,
    });
  });
});

describe("describeConfig", () => {
  it("finds descriptions and defaults behind wrappers", () => {
    const fields = describeConfig(Config);
    expect(fields.find(({ name }) => name === "IDLE_MS")).toEqual({
      name: "IDLE_MS",
      description: "Longest silence",
      defaultValue: "1000",
      required: false,
      secret: false,
    });
    expect(fields.filter(({ required }) => required).map(({ name }) => name)).toEqual(["DATABASE_URL", "MASTER_KEY"]);
  });

  it("writes an example file in which only required settings are active", () => {
    expect(envExample(Config)).toContain("# 32 random bytes\nMASTER_KEY=\n\n# Port of the API\n# PORT=8080\n");
  });
});

function problemsOf(env: Record<string, string>): ConfigError {
  try {
    readConfig(Config, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the settings were accepted");
}
