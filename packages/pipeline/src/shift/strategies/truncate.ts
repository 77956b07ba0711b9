import { AssemblyInputError } from "../../errors.ts";
import { dropUntilFits, type Leaving } from "../drop-until-fits.ts";
import { isCallGroup, type Group } from "../group.ts";
import { protect, type Protection } from "../protection.ts";
import type { MeasuredBlock, ShiftInput, Strategy } from "../strategy.ts";

type Measured = Group<MeasuredBlock>;

const EXAMPLE_PLACES: ReadonlySet<unknown> = new Set(["first", "last", undefined]);

/**
 * The default strategy. Leaving order: examples (last first), history groups oldest first, optional memory, lore,
 * template and plugin blocks by ascending relevance, then what is optional in the open turn, oldest first.
 * `strategyOptions.examples`: `first` (default) or `last`, which moves examples behind the history.
 */
export const truncate: Strategy = {
  id: "truncate",
  checkOptions(options) {
    if (EXAMPLE_PLACES.has(options["examples"])) return;
    throw new AssemblyInputError(
      "VALIDATION_FAILED",
      "/strategyOptions/examples",
      'strategyOptions.examples must be "first" or "last".',
      'Choose "first" or "last", or leave it out for "first".',
    );
  },
  shift: (input) => dropUntilFits(input, leavingOrder(input)),
};

function leavingOrder(input: ShiftInput): readonly Leaving[] {
  const protection = protect(input.blocks);
  const optional = protection.groups.filter((group) => !protection.isProtected(group));
  const examples = optional.filter((group) => sourceOf(group) === "example").reverse();
  const history = optional.filter((group) => sourceOf(group) === "history" && !protection.isOpenTurn(group));
  const summaries = optional.filter((group) => sourceOf(group) === "summary");
  const shelf = optional.filter((group) => SHELF.includes(sourceOf(group)));
  const examplesLast = input.strategyOptions["examples"] === "last";
  return [
    ...(examplesLast ? [] : leave(examples, "shift_example")),
    ...leave([...history, ...summaries], "shift_oldest"),
    ...(examplesLast ? leave(examples, "shift_example") : []),
    ...leave(byRelevance(shelf, input.tieRanks), "shift_low_relevance"),
    ...openTurn(optional, protection),
  ];
}

const SHELF: readonly string[] = ["memory", "lorebook", "template", "plugin"];

function sourceOf(group: Measured): MeasuredBlock["source"] {
  return group.members[0].source;
}

function leave(groups: readonly Measured[], reason: Leaving["reason"]): readonly Leaving[] {
  return groups.map((group) => ({ group, reason }));
}

function openTurn(optional: readonly Measured[], protection: Protection<MeasuredBlock>): readonly Leaving[] {
  return optional
    .filter((group) => protection.isOpenTurn(group))
    .map((group) => ({ group, reason: isCallGroup(group) ? "shift_call_group" : "shift_oldest" }));
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
