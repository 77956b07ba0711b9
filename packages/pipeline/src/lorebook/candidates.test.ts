import { expect, it } from "vitest";
import type { Lorebook } from "../conversation.ts";
import { aLorebook, aLoreEntry } from "../testing/conversation.ts";
import { candidates } from "./candidates.ts";

function book(id: string, binding: Lorebook["binding"], orders: readonly number[]): Lorebook {
  const entries = orders.map((order, uid) => aLoreEntry(`${id}${uid}`, { uid, order }));
  return { ...aLorebook(entries.toReversed()), id, binding };
}

const ids = (books: readonly Lorebook[]) => candidates(books).map(({ entry }) => entry.id);

it("processes chat, persona, character and global books in that order, highest order first, then by uid", () => {
  const books = [
    book("g", "global", [900]),
    book("c", "character", [1, 5]),
    book("p", "persona", [2]),
    book("t", "chat", [3, 3]),
  ];
  expect(ids(books)).toEqual(["t0", "t1", "p0", "c1", "c0", "g0"]);
});

it("merges books of one binding by order, the earlier book first on a tie", () => {
  expect(ids([book("a", "chat", [1, 2]), book("b", "chat", [2])])).toEqual(["a1", "b0", "a0"]);
});

it("reads a book bound twice once, at its strongest binding", () => {
  const bound = candidates([
    book("x", "character", [1]),
    book("x", "chat", [1]),
    book("x", "global", [1]),
    book("x", "persona", [1]),
  ]);
  expect(bound.map((candidate) => candidate.book.binding)).toEqual(["global"]);
});
