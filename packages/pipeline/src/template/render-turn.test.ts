import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chatml } from "./formats/chatml.ts";
import type { InstructFormat } from "./instruct-format.ts";
import { openReply, renderTurn, stopStrings } from "./render-turn.ts";

describe("renderTurn", () => {
  it("is prefix, newline, text, suffix; an open one ends with its text", () => {
    expect(renderTurn(chatml, "user", "Hi!")).toBe("<|im_start|>user\nHi!<|im_end|>\n");
    expect(renderTurn(chatml, "assistant", "It was", true)).toBe("<|im_start|>assistant\nIt was");
  });

  it("ends with a newline of its own where a wrapping format has no suffix", () => {
    const format: InstructFormat = { ...chatml, user: { prefix: "### User:", suffix: "" } };
    expect(renderTurn(format, "user", "Hi!")).toBe("### User:\nHi!\n");
    expect(renderTurn({ ...format, wrap: false }, "user", "Hi!")).toBe("### User:Hi!");
  });
});

describe("openReply", () => {
  it("stands on a line of its own, with the name when all turns have names", () => {
    expect(openReply(chatml, "Mira", "…<|im_end|>\n")).toBe("<|im_start|>assistant\n");
    expect(openReply(chatml, "Mira", "…<|im_end|>")).toBe("\n<|im_start|>assistant\n");
    expect(openReply({ ...chatml, names: "always" }, "Mira", "")).toBe("<|im_start|>assistant\nMira:");
  });
});

describe("stopStrings", () => {
  it("are the format's own, then what speaks for the user, then the rest; openings stand on their own lines", () => {
    expect(stopStrings(chatml, { user: "Max", character: "Mira" })).toEqual([
      "<|im_end|>",
      "\n<|im_start|>user",
      "\nMax:",
      "\n<|im_start|>assistant",
      "\n<|im_start|>system",
      "\nMira:",
    ]);
  });

  it("are each there once, and none for a speaker without a name", () => {
    expect(stopStrings(chatml, { user: "Max", character: "Max" }).filter((stop) => stop === "\nMax:")).toHaveLength(1);
    expect(stopStrings(chatml, { user: "", character: "" })).not.toContain("\n:");
  });
});

interface FormatCases {
  readonly meta: { readonly messages: readonly { readonly is_user: boolean; readonly mes: string }[] };
  readonly formats: { readonly ChatML: { readonly prompt: string; readonly stop: readonly string[] } };
}

const CASES = new URL("../../../../../shared/cases/instruct-formats.json", import.meta.url);
const PRESET = new URL("../../../../../shared/samples/instruct-chatml.json", import.meta.url);
const read = (url: URL): unknown => JSON.parse(readFileSync(url, "utf8"));

describe.skipIf(!existsSync(CASES))("beside the reference rendering (skipped: ../shared is absent)", () => {
  it("renders the same prompt, and stops at least where the reference does", () => {
    const { meta, formats } = read(CASES) as FormatCases;
    const story = /<\|im_start\|>system\n(.*?)<\|im_end\|>/s.exec(formats.ChatML.prompt)?.[1] ?? "";
    const turns = meta.messages.map(({ is_user, mes }) => renderTurn(chatml, is_user ? "user" : "assistant", mes));
    const prompt = [renderTurn(chatml, "system", story), ...turns].join("");
    expect(prompt + openReply(chatml, "Seraphina", prompt)).toBe(formats.ChatML.prompt);
    const ours = stopStrings(chatml, { user: "", character: "" });
    for (const stop of formats.ChatML.stop) expect(ours.some((own) => stop.includes(own))).toBe(true);
  });
});

describe.skipIf(!existsSync(PRESET))("beside the reference preset (skipped: ../shared is absent)", () => {
  it("has the same sequences", () => {
    expect(read(PRESET)).toMatchObject({
      input_sequence: chatml.user.prefix,
      input_suffix: chatml.user.suffix,
      output_sequence: chatml.assistant.prefix,
      output_suffix: chatml.assistant.suffix,
      system_sequence: chatml.system.prefix,
      system_suffix: chatml.system.suffix,
      stop_sequence: chatml.stop[0],
      wrap: chatml.wrap,
      names_behavior: chatml.names,
    });
  });
});
