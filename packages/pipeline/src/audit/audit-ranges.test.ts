import { describe, expect, it } from "vitest";
import type { AuditBlock } from "../prompt.ts";
import { aBlock } from "../testing/conversation.ts";
import { auditBlocks } from "./audit-blocks.ts";
import { collapseRanges } from "./audit-ranges.ts";

function rows(
  outSeqs: readonly number[],
  keptSeqs: readonly number[],
  tokens: number | null = 10,
): readonly AuditBlock[] {
  return auditBlocks({
    included: keptSeqs.map((seq) => aBlock(`msg:m${seq}`, { seq })),
    leftOut: outSeqs.map((seq) => ({
      block: aBlock(`msg:m${seq}`, { seq }),
      stage: "shift",
      reason: "shift_oldest",
      reasonDetail: null,
      tokens,
    })),
    overheadTokens: 3,
    strategy: "truncate",
  });
}

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("collapseRanges", () => {
  it("makes one range of more than 200 neighbours with one reason", () => {
    const { blocks, ranges } = collapseRanges(rows(upTo(1, 201), upTo(202, 203)));
    expect(ranges).toEqual([{ fromSeq: 1, toSeq: 201, count: 201, tokens: 2_010, reason: "shift_oldest" }]);
    expect(blocks.map(({ id }) => id)).toEqual(["msg:m202", "msg:m203", "overhead:request"]);
  });

  it("lists 200 one by one", () => {
    expect(collapseRanges(rows(upTo(1, 200), [])).ranges).toEqual([]);
  });

  it("does not reach over a message that stayed", () => {
    const { ranges } = collapseRanges(rows([...upTo(1, 201), ...upTo(203, 403)], [202]));
    expect(ranges.map(({ fromSeq, toSeq, count }) => [fromSeq, toSeq, count])).toEqual([
      [1, 201, 201],
      [203, 403, 201],
    ]);
  });

  it("gives no sum when a message was not counted", () => {
    expect(collapseRanges(rows(upTo(1, 300), [], null)).ranges[0]?.tokens).toBeNull();
  });

  it("joins what was never loaded with its neighbours, without a sum, and lists the rest", () => {
    const { blocks, ranges } = collapseRanges(rows([7, 8, 50], [4, 51]), [
      { fromSeq: 1, toSeq: 3, count: 3 },
      { fromSeq: 5, toSeq: 6, count: 2 },
    ]);
    expect(ranges).toEqual([
      { fromSeq: 1, toSeq: 3, count: 3, tokens: null, reason: "shift_oldest" },
      { fromSeq: 5, toSeq: 50, count: 5, tokens: null, reason: "shift_oldest" },
    ]);
    expect(blocks.map(({ id }) => id)).toEqual(["msg:m4", "msg:m51", "overhead:request"]);
  });
});
