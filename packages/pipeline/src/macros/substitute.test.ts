import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssemblyInputError } from "../errors.ts";
import { aCharacter, aConversation } from "../testing/conversation.ts";
import { MACRO_OUTPUT_LIMIT, substitute } from "./substitute.ts";
import { macroValues } from "./values.ts";

const values = { user: "Max", char: "Seraphina" };

describe("substitute", () => {
  it.each([
    ["{{char}} {{user}}", "Seraphina Max"],
    ["{{CHAR}} {{UsEr}}", "Seraphina Max"],
    ["{{ char }}{{\tuser\n}}", "SeraphinaMax"],
    ["<USER> <BOT> <char>", "Max Seraphina Seraphina"],
    ["{{unknown}} {{char::x}} <GROUPS>", "{{unknown}} {{char::x}} <GROUPS>"],
    ["{{unknown::{{char}}}}", "{{unknown::Seraphina}}"],
    ["{{char", "{{char"],
    ["{{char}}}", "Seraphina}"],
    ["{{original}}", "{{original}}"],
    ["", ""],
  ])("turns %j into %j", (text, expected) => {
    expect(substitute(text, values)).toBe(expected);
  });

  it("inserts the original once and never expands it", () => {
    expect(substitute("A {{original}} B {{ORIGINAL}} C", values, { original: "ORIG" })).toBe("A ORIG B  C");
    expect(substitute("{{original}}", values, { original: "{{char}}" })).toBe("{{char}}");
  });

  it("inserts names literally, whatever they are made of", () => {
    const odd = { user: "{{char}}", char: "$& $' $1 {{user}}" };
    expect(substitute("{{user}}/{{char}}", odd)).toBe("{{char}}/$& $' $1 {{user}}");
  });

  it("runs no code and reads no property that card text names", () => {
    const text =
      "{{constructor.constructor('return process.env')()}} {{__proto__.polluted}} {{#each this}}x{{/each}} ${process.env.KEY}";
    expect(substitute(text, values)).toBe(text);
  });

  it("stops with the field's name when the result would outgrow the limit", () => {
    const grow = () =>
      substitute(
        "{{char}}".repeat(2_000),
        { user: "u", char: "x".repeat(1_000) },
        { pointer: "/character/description" },
      );
    expect(grow).toThrow(AssemblyInputError);
    expect(grow).toThrow(expect.objectContaining({ code: "VALIDATION_FAILED", pointer: "/character/description" }));
  });

  it("leaves a text that is longer than the limit as it is", () => {
    const text = `${"x".repeat(MACRO_OUTPUT_LIMIT)}{{user}}`;
    expect(substitute(text, values).length).toBe(MACRO_OUTPUT_LIMIT + 3);
  });

  it.each(["{", "{{", "{{ ", "{{ user", "{{user ", "<", "<user", "{{\n"])(
    "reads a megabyte of %j in linear time",
    (piece) => {
      const small = timeOf(piece.repeat(Math.floor(131_072 / piece.length)));
      const large = timeOf(piece.repeat(Math.floor(1_048_576 / piece.length)));
      // Eight times the text: 64 times the time if it were quadratic.
      expect(large).toBeLessThan(Math.max(50, small * 24));
    },
  );

  it("changes nothing but its own macros", () => {
    const piece = fc.constantFrom("{{user}}", "<bot>", "{{x}}", "{", "}", " ", "a", "é", "🐉");
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const expected = pieces
          .map((one) => (one === "{{user}}" ? "Max" : one === "<bot>" ? "Seraphina" : one))
          .join("");
        const text = pieces.join("");
        // Neighbouring braces can form other macros; those texts are the examples' business.
        fc.pre(!/\{\{\{|\{\{ *[^ux]|\{ \{/.test(text));
        expect(substitute(text, values)).toBe(expected);
      }),
      { seed: 7 },
    );
  });
});

function timeOf(text: string): number {
  const start = performance.now();
  substitute(text, values);
  return performance.now() - start;
}

describe("macroValues", () => {
  it("prefers the nickname and has sensible names without character and persona", () => {
    const character = aCharacter({ name: "Seraphina", nickname: "Sera" });
    const persona = { id: "p", name: "Max", description: "" };
    expect(macroValues(aConversation([], { character, persona }))).toEqual({ user: "Max", char: "Sera" });
    expect(macroValues(aConversation([], { character: aCharacter({ name: "Mira", nickname: " " }) })).char).toBe(
      "Mira",
    );
    expect(macroValues(aConversation([]))).toEqual({ user: "User", char: "Assistant" });
  });
});
