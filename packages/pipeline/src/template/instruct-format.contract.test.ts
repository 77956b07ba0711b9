import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INSTRUCT_FORMATS, instructFormat, type InstructFormatId } from "./formats.ts";
import type { InstructFormat } from "./instruct-format.ts";
import { neutralise } from "./neutralise.ts";
import { openReply, renderTurn, stopStrings, type TurnRole } from "./render-turn.ts";

const ROLES: readonly TurnRole[] = ["system", "user", "assistant"];

function marksIn(text: string, { controlTexts }: InstructFormat): number {
  return controlTexts.reduce((sum, mark) => sum + text.split(mark).length - 1, 0);
}

describe.each(Object.keys(INSTRUCT_FORMATS) as InstructFormatId[])("instruct format %s", (id) => {
  const format: InstructFormat = INSTRUCT_FORMATS[id];
  const hostile = fc
    .array(fc.constantFrom(...format.controlTexts, ...format.controlTexts.flatMap(halves), " ", "\n", "a", "user"), {
      maxLength: 12,
    })
    .map((parts) => parts.join(""));

  it("is found by its id", () => {
    expect(format.id).toBe(id);
    expect(instructFormat(id)).toBe(format);
  });

  it("names its own marks, each of at least two visible characters in front", () => {
    for (const mark of format.controlTexts) expect(mark).toMatch(/^\S\S/);
    for (const role of ROLES) {
      expect(marksIn(format[role].prefix, format)).toBeGreaterThan(0);
      expect(marksIn(format[role].suffix, format)).toBeGreaterThan(0);
    }
  });

  it("opens a turn with a string that stops the reply", () => {
    const stops = stopStrings(format, { user: "", character: "" });
    for (const role of ROLES) {
      const opening = `\n${renderTurn(format, role, "", true)}`;
      expect(stops.some((stop) => opening.includes(stop))).toBe(true);
    }
    expect(new Set(stops).size).toBe(stops.length);
  });

  it("lets no text begin or end a turn, wherever marks are hidden in it", () => {
    fc.assert(
      fc.property(hostile, hostile, fc.constantFrom(...ROLES), (text, next, role) => {
        const turn = (content: string) => renderTurn(format, role, neutralise(content, format));
        const prompt = turn(text) + turn(next) + openReply(format, "", "");
        const empty = renderTurn(format, role, "").repeat(2) + openReply(format, "", "");
        expect(marksIn(prompt, format)).toBe(marksIn(empty, format));
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("changes a text by spaces alone, and one without marks not at all", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const safe = neutralise(text, format);
        expect(safe.replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
        expect(neutralise(safe, format)).toBe(safe);
        if (marksIn(text, format) === 0) expect(safe).toBe(text);
      }),
      { seed: 8, numRuns: 500 },
    );
  });
});

function halves(mark: string): readonly string[] {
  const middle = Math.floor(mark.length / 2);
  return [mark.slice(0, middle), mark.slice(middle)];
}

it("knows no other format", () => {
  expect(["", "constructor", "ChatML"].map(instructFormat)).toEqual([null, null, null]);
});
