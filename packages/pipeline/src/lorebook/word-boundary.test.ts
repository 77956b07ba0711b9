import { describe, expect, it } from "vitest";
import { findWord } from "./word-boundary.ts";

describe("whole words, unicode", () => {
  it.each([
    ["vergrößern", "ern", -1],
    ["русский язык", "русский", 0],
    ["челюсть котом кот", "кот", 14],
    ["un café noir", "café", 3],
    ["I know C++ well", "C++", 7],
    ["the A.I. woke", "A.I.", 4],
    ["the bold kingdom", "old king", -1],
    ["an old king", "old king", 3],
    ["cafe\u0301", "cafe", -1],
    ["他用魔法攻击", "魔法", 2],
    ["我喜欢Python编程", "Python", 3],
    ["드래곤이 온다", "드래곤", 0],
    ["𝒳cat cat", "cat", 6],
    ["cat", "", 0],
  ])("in %j the key %j is at %i", (text, key, at) => {
    expect(findWord(text, key, "unicode")).toBe(at);
  });
});

describe("whole words, ascii", () => {
  it.each([
    ["it's not to my liking", "king", -1],
    ["liking (king)", "king", 8],
    ["vergrößern", "ern", 7],
    ["человек, который", "кот", 9],
    ["king_s king", "king", 7],
  ])("in %j the key %j is at %i", (text, key, at) => {
    expect(findWord(text, key, "ascii")).toBe(at);
  });

  it("without the rule any place will do", () => {
    expect(findWord("liking", "king", "none")).toBe(2);
  });
});
