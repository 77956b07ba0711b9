import type { LoreEntry, Lorebook } from "../conversation.ts";

/** An entry together with the book it stands in. */
export interface Candidate {
  readonly book: Lorebook;
  readonly entry: LoreEntry;
}

type Binding = Lorebook["binding"];

const PROCESSED: readonly Binding[] = ["chat", "persona", "character", "global"];
const BINDING_RANK: Readonly<Record<Binding, number>> = { global: 0, chat: 1, persona: 2, character: 3 };

/**
 * Every entry in the order it is processed: chat, persona, character, then global books; inside each by order descending,
 * ties by the books' own order and ascending uid. A book bound more than once is read once, by its strongest binding
 * (global, then chat, persona, character).
 */
export function candidates(lorebooks: readonly Lorebook[]): readonly Candidate[] {
  const books = boundOnce(lorebooks);
  return PROCESSED.flatMap((binding) =>
    books
      .filter((book) => book.binding === binding)
      .flatMap((book) => entriesByUid(book).map((entry) => ({ book, entry })))
      .sort((a, b) => b.entry.order - a.entry.order),
  );
}

function entriesByUid(book: Lorebook): readonly LoreEntry[] {
  return book.entries.toSorted((a, b) => a.uid - b.uid);
}

function boundOnce(lorebooks: readonly Lorebook[]): readonly Lorebook[] {
  const strongest = new Map<string, Lorebook>();
  for (const book of lorebooks) {
    const known = strongest.get(book.id);
    if (known === undefined || BINDING_RANK[book.binding] < BINDING_RANK[known.binding]) strongest.set(book.id, book);
  }
  return [...strongest.values()];
}
