import { expect, test } from "vitest";
import { publicBlockId, publicDetail, publicProblem } from "./public-refs.ts";

const UUID = "019a0000-1111-7222-8333-444455556666";
const HEX = UUID.replaceAll("-", "");

test("ids inside block ids become public, whatever stands behind them", () => {
  expect(publicBlockId(`msg:${UUID}`)).toBe(`msg:msg_${HEX}`);
  expect(publicBlockId(`lore:${UUID}`)).toBe(`lore:lore_${HEX}`);
  expect(publicBlockId(`mem:${UUID}#2`)).toBe(`mem:mem_${HEX}#2`);
  expect(publicBlockId("character:description")).toBe("character:description");
});

test("evidence names rows by public ids at every depth, and keeps the rest", () => {
  const detail = {
    key: "sea",
    messageId: UUID,
    offset: 4,
    winners: [`lore:${UUID}`, UUID],
    inner: { duplicateOf: UUID },
  };
  expect(publicDetail(detail)).toEqual({
    key: "sea",
    messageId: `msg_${HEX}`,
    offset: 4,
    winners: [`lore:lore_${HEX}`, `lore_${HEX}`],
    inner: { duplicateOf: `mem_${HEX}` },
  });
});

test("a stored problem names its largest blocks by public ids", () => {
  const params = { largest: [{ blockId: `lore:${UUID}`, tokens: 3 }] };
  const problem = {
    code: "TOKEN_BUDGET_EXCEEDED",
    title: "",
    detail: "",
    retryable: false,
    origin: "client",
    params,
  } as const;
  expect(publicProblem(problem).params).toEqual({ largest: [{ blockId: `lore:lore_${HEX}`, tokens: 3 }] });
});
