// A context strategy: of the history only the last N messages stay, whatever the budget would hold. Use it with
// PLUGINS=./examples/plugins/last-messages.mjs and "contextStrategy": "last-messages", "strategyOptions": {"messages": 20}.

/** @type {import("@shiftwork/pipeline").Strategy} */
const lastMessages = {
  id: "last-messages",
  params: {
    type: "object",
    properties: {
      messages: { type: "integer", minimum: 1, default: 20, description: "How many messages of the history stay." },
    },
  },
  shift({ blocks, strategyOptions }) {
    const most = Number(strategyOptions.messages ?? 20);
    // From the current input on everything belongs to the turn that is being answered.
    const input = blocks.findIndex((block) => block.source === "input");
    const history = blocks.slice(0, input === -1 ? blocks.length : input).filter((block) => block.source === "history");
    const stays = new Set(history.slice(-most).map(groupOf));
    for (const block of history) if (block.pinned || block.required) stays.add(groupOf(block));
    const leaving = new Set(history.filter((block) => !stays.has(groupOf(block))));
    return {
      kept: blocks.filter((block) => !leaving.has(block)),
      excluded: [...leaving].map((block) => ({ block, reason: "shift_oldest" })),
    };
  },
};

/** A call and its results share a group and stay or leave together. */
function groupOf(block) {
  return block.groupId ?? block.id;
}

export default { strategies: [lastMessages] };
