import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block } from "../block.ts";
import { aBlock } from "../testing/conversation.ts";
import { fold } from "./folding.ts";
import { MAX_SCAN_CHARACTERS, scanText } from "./scan-text.ts";

const values = { user: "Max", char: "Mira" };
const said = (id: string, role: Block["role"], content: string, name: string | null = null) =>
  aBlock(`msg:${id}`, { refId: id, role, content, name });
const history = [
  said("m1", "user", "first"),
  said("m2", "assistant", " second "),
  said("m3", "user", "third", "Maxine"),
];
const scan = scanText(history, { includeNames: true, values });

describe("scanText", () => {
  it("puts the newest message first, each behind U+0001 and its speaker", () => {
    expect(scan.view(2).text("raw")).toBe("\u0001Maxine: third\n\u0001Mira: second");
    expect(scan.view(9).text("raw")).toBe("\u0001Maxine: third\n\u0001Mira: second\n\u0001Max: first");
  });

  it("shows nothing at depth 0 and below", () => {
    expect(scan.view(0).text("raw")).toBe("");
    expect(scan.view(-1).text("lower")).toBe("");
  });

  it("passes over tool results and blank messages, and leaves names away on request", () => {
    const more = [...history, said("m4", "tool", "result"), said("m5", "assistant", " \n")];
    const bare = scanText(more, { includeNames: false, values });
    expect(bare.messageCount).toBe(3);
    expect(bare.view(1).text("lower")).toBe("\u0001third");
  });

  it("leads an offset back to the message and the place in its own text", () => {
    const at = (needle: string) => scan.place(scan.view(9).text("lower").indexOf(needle), "lower");
    expect(at("third")).toEqual({ messageId: "m3", offset: 0 });
    expect(at("cond")).toEqual({ messageId: "m2", offset: 3 });
    expect(at("irst")).toEqual({ messageId: "m1", offset: 1 });
    expect(at("maxine")).toEqual({ messageId: "m3", offset: null });
    expect(at("\u0001max: first")).toEqual({ messageId: "m1", offset: null });
  });

  it("leads back through case folding and composition that change lengths", () => {
    const dotted = scanText([said("m1", "user", "İİ dragon cafe\u0301 x")], { includeNames: false, values });
    const text = dotted.view(1).text("nfc_lower");
    expect(dotted.place(text.indexOf("dragon"), "nfc_lower").offset).toBe(3);
    expect(dotted.place(text.indexOf("x"), "nfc_lower").offset).toBe(16);
  });

  it("reads a bounded number of characters, newest first", () => {
    const long = [said("m1", "user", "old"), said("m2", "user", "x".repeat(MAX_SCAN_CHARACTERS))];
    const bounded = scanText(long, { includeNames: false, values });
    expect(bounded.messageCount).toBe(1);
    expect(bounded.view(9).text("raw").length).toBe(MAX_SCAN_CHARACTERS + 1);
  });

  it("never denies a needle that is there", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "B", "é", "龙", " ", "🐉"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, word, (before, needle, after) => {
        const padded = scanText([said("m1", "user", `${"pad ".repeat(400)}${before}${needle}${after}.`)], {
          includeNames: false,
          values,
        });
        const view = padded.view(1);
        const folded = fold(needle, "lower");
        expect(view.text("lower").includes(folded) && !view.mayHold(folded, "lower")).toBe(false);
        expect(view.mayHold("certainly not in there", "lower")).toBe(false);
      }),
      { seed: 7 },
    );
  });
});
