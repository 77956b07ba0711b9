const WORD = /[\p{L}\p{M}\p{N}]+/gu;
// Runs of scripts written without spaces; a pair of neighbours is the smallest unit that still means something.
const UNSPACED_RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** English words too common to tell memories apart. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about after all also am an and any are as at be because been before being but by can could did do does doing for from had has have " +
    "having he her here hers him his how i if in into is it its just me more most my no nor not of off on once only or our out over own she " +
    "so some such than that the their them then there these they this those through to too under until up very was we were what when where " +
    "which while who whom why will with would you your"
  ).split(" "),
);

/** The words of a text as they are indexed and searched: folded, without stop words, unspaced scripts in pairs. */
export function terms(text: string): readonly string[] {
  const folded = text.normalize("NFKC").toLowerCase();
  return (folded.match(WORD) ?? []).flatMap(splitWord).filter((term) => !STOP_WORDS.has(term));
}

/** Whether a term comes from a script without spaces; such pairs are matched exactly. */
export function isUnspaced(term: string): boolean {
  return term.search(UNSPACED_RUN) === 0;
}

function splitWord(word: string): readonly string[] {
  const runs = word.match(UNSPACED_RUN);
  if (runs === null) return [word];
  const spaced = word.split(UNSPACED_RUN).filter((part) => part !== "");
  return [...spaced, ...runs.flatMap(pairs)];
}

function pairs(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return [run];
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
