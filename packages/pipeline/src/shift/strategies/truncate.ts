import { fit } from "../fit.ts";
import { optionalGroups } from "../optional-groups.ts";
import { builtIn } from "../strategy.ts";

/**
 * The default strategy. Leaving order: examples (last first), history groups oldest first, optional memory, lore,
 * template and plugin blocks by ascending relevance, then what is optional in the open turn, oldest first.
 * `strategyOptions.examples`: `first` (default) or `last`, which moves examples behind the history.
 */
export const truncate = builtIn({
  id: "truncate",
  params: {
    type: "object",
    properties: {
      examples: {
        type: "string",
        enum: ["first", "last"],
        default: "first",
        description: "Whether example dialogues leave before the history or after it.",
      },
    },
  },
  oldHistory: "ignored",
  leavingOrder(input) {
    const { examples, history, summaries, shelf, openTurn } = optionalGroups(input);
    const examplesLast = input.strategyOptions["examples"] === "last";
    return examplesLast
      ? [...history, ...summaries, ...examples, ...shelf, ...openTurn]
      : [...examples, ...history, ...summaries, ...shelf, ...openTurn];
  },
  plan: (input, context) => fit(input, truncate.leavingOrder(input), context),
});
