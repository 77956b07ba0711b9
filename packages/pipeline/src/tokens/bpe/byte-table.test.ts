import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addEntry, clearTable, createByteTable, hashOf, NONE, valueOf } from "./byte-table.ts";
import { createByteText, writeText } from "./byte-text.ts";

const keys = fc.uniqueArray(fc.string({ unit: "binary", minLength: 1, maxLength: 12 }), { maxLength: 60 });
const RUNS = { seed: 20_260_112, numRuns: 300 };

/** The key's bytes with something behind them, which must not matter. */
function bytesOf(key: string, behind: string) {
  const text = createByteText(100);
  const end = writeText(key, text);
  text.bytes.set(new TextEncoder().encode(behind).slice(0, 4), end);
  return { text, end, hash: hashOf(text, 0, end) };
}

describe("a byte table", () => {
  it("gives back what was put in, and nothing else", () => {
    fc.assert(
      fc.property(keys, keys, (known, others) => {
        const table = createByteTable(128, 1_000);
        const wellFormed = [...new Set(known.map((key) => wellFormedOf(key)))];
        for (const [value, key] of wellFormed.entries()) {
          const { text, end, hash } = bytesOf(key, "");
          addEntry(table, text, 0, end, hash, value);
        }
        for (const key of [...wellFormed, ...others]) {
          const { text, end, hash } = bytesOf(key, "behind");
          expect(valueOf(table, text, 0, end, hash)).toBe(wellFormed.indexOf(wellFormedOf(key)));
        }
        clearTable(table);
        const { text, end, hash } = bytesOf("x", "");
        expect(valueOf(table, text, 0, end, hash)).toBe(NONE);
      }),
      RUNS,
    );
  });

  it("looks no farther than it may, whatever the hashes are", () => {
    const table = createByteTable(64, 1_000, 3);
    const values = Array.from({ length: 20 }, (_, value) => {
      const { text, end } = bytesOf(`key ${value}`, "");
      addEntry(table, text, 0, end, 7, value);
      return valueOf(table, text, 0, end, 7);
    });
    expect(values).toEqual([0, 1, 2, 3, ...Array.from({ length: 16 }, () => NONE)]);
    expect(table.reach).toBe(3);
  });
});

function wellFormedOf(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
