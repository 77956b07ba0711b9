import { describe, expect, it } from "vitest";
import { createLogger, type LoggerOptions } from "./create-logger.ts";

function collect(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { logger: createLogger({ level: "info", name: "worker", destination, ...options }), lines };
}

function only(lines: readonly string[]): unknown {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? "");
}

describe("a logger", () => {
  it("writes one JSON object per line with time, level, name and fields", () => {
    const { logger, lines } = collect();
    logger.info({ generationId: "gen_1", durationMs: 12 }, "generation finished");
    expect(only(lines)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "info",
      name: "worker",
      generationId: "gen_1",
      durationMs: 12,
      msg: "generation finished",
    });
    expect(lines[0]?.endsWith("}\n")).toBe(true);
  });

  it("drops lines below its level", () => {
    const { logger, lines } = collect({ level: "warn" });
    logger.info("dropped");
    expect(lines).toEqual([]);
  });

  it.each([
    ["a header", { req: { headers: { Authorization: "Bearer s3cret" } } }],
    ["a deep field", { a: { b: { c: [{ apiKey: "s3cret" }] } } }],
    ["another spelling", { "x-api-key": "s3cret", api_key: "s3cret", masterKey: "s3cret" }],
    ["message content", { message: { content: "s3cret", role: "user" } }],
    ["a prompt", { request: { messages: [{ content: "s3cret" }], prompt: "s3cret" } }],
  ])("never writes the secret in %s", (_where, fields) => {
    const { logger, lines } = collect();
    logger.info(fields, "line");
    expect(lines.join("")).not.toContain("s3cret");
    expect(lines.join("")).toContain("[redacted]");
  });

  it("hides the failing row that the database repeats in an error", () => {
    const { logger, lines } = collect();
    const detail = "Failing row contains (1, s3cret).";
    logger.error({ err: Object.assign(new Error("violates"), { code: "23514", detail, where: "s3cret" }) }, "failed");
    expect(lines.join("")).not.toContain("s3cret");
    expect(only(lines)).toMatchObject({ err: { message: "violates", code: "23514" } });
  });

  it("hides what is bound to a child", () => {
    const { logger, lines } = collect();
    logger.child({ tenantId: "ten_1", authorization: "s3cret" }).info("line");
    expect(only(lines)).toMatchObject({ tenantId: "ten_1", authorization: "[redacted]" });
  });

  it("hides what an error carries, and keeps its message and stack", () => {
    const { logger, lines } = collect();
    logger.error({ err: Object.assign(new Error("refused"), { headers: { authorization: "s3cret" } }) }, "failed");
    expect(lines.join("")).not.toContain("s3cret");
    expect(only(lines)).toMatchObject({
      err: { message: "refused", stack: expect.stringContaining("Error: refused") },
    });
  });

  it("shows content when told to, but no credentials", () => {
    const { logger, lines } = collect({ showContent: true });
    logger.info({ content: "hello", authorization: "s3cret" }, "line");
    expect(only(lines)).toMatchObject({ content: "hello", authorization: "[redacted]" });
  });

  it("ends on a cycle and leaves the caller's object as it was", () => {
    const { logger, lines } = collect();
    const cyclic: Record<string, unknown> = { content: "kept" };
    cyclic["self"] = cyclic;
    logger.info(cyclic, "line");
    expect(lines).toHaveLength(1);
    expect(cyclic["content"]).toBe("kept");
  });
});
