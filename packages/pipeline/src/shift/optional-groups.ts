import type { Leaving } from "./drop-until-fits.ts";
import { isCallGroup, type Group } from "./group.ts";
import { protect } from "./protection.ts";
import type { MeasuredBlock, ShiftInput } from "./strategy.ts";

type Measured = Group<MeasuredBlock>;

/** What may leave, by kind, each list in its leaving order. */
export interface OptionalGroups {
  /** Example dialogues, last first. */
  readonly examples: readonly Leaving[];
  /** History before the open turn, oldest first. */
  readonly history: readonly Leaving[];
  /** Summaries of earlier history. */
  readonly summaries: readonly Leaving[];
  /** Memory, lore, template and plugin blocks by ascending relevance. */
  readonly shelf: readonly Leaving[];
  /** What is optional in the open turn, oldest first: its older call groups above all. */
  readonly openTurn: readonly Leaving[];
}

/** Sorts what is not protected by kind. */
export function optionalGroups(input: Pick<ShiftInput, "blocks" | "tieRanks">): OptionalGroups {
  const protection = protect(input.blocks);
  const optional = protection.groups.filter((group) => !protection.isProtected(group));
  const ofSource = (source: string): readonly Measured[] => optional.filter((group) => sourceOf(group) === source);
  const history = ofSource("history").filter((group) => !protection.isOpenTurn(group));
  const shelf = optional.filter((group) => SHELF.includes(sourceOf(group)));
  return {
    examples: leave(ofSource("example").toReversed(), "shift_example"),
    history: leave(history, "shift_oldest"),
    summaries: leave(ofSource("summary"), "shift_oldest"),
    shelf: leave(byRelevance(shelf, input.tieRanks), "shift_low_relevance"),
    openTurn: optional
      .filter((group) => protection.isOpenTurn(group))
      .map((group) => ({ group, reason: isCallGroup(group) ? "shift_call_group" : "shift_oldest" })),
  };
}

/** Sources of blocks that are chosen anew each turn; ties of relevance leave in this order. */
export const SHELF: readonly string[] = ["memory", "lorebook", "template", "plugin"];

function sourceOf(group: Measured): MeasuredBlock["source"] {
  return group.members[0].source;
}

function leave(groups: readonly Measured[], reason: Leaving["reason"]): readonly Leaving[] {
  return groups.map((group) => ({ group, reason }));
}

// Missing relevance counts as 0. Ties: the order of SHELF, then the rank within the source (lore by insertion order,
// memory older first), then the id.
function byRelevance(groups: readonly Measured[], tieRanks: ReadonlyMap<string, number>): readonly Measured[] {
  const rankOf = (group: Measured): number => tieRanks.get(group.members[0].id) ?? 0;
  return groups.toSorted(
    (a, b) =>
      (a.members[0].relevance ?? 0) - (b.members[0].relevance ?? 0) ||
      SHELF.indexOf(sourceOf(a)) - SHELF.indexOf(sourceOf(b)) ||
      rankOf(a) - rankOf(b) ||
      (a.members[0].id < b.members[0].id ? -1 : 1),
  );
}
