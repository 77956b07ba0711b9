// The audit page: reads a chat's audit and previews with the visitor's key, and says in plain words what is in them. Text
// of prompts only ever becomes text nodes. The key stays in this tab's session storage.

const KEY = "shiftwork.key";
const THEME = "shiftwork.theme";
const MOST_SHIFTS = 8;
const SNIPPET = 150;
const MOST_ROWS = 200;

const number = new Intl.NumberFormat("en");
const $ = (id) => document.getElementById(id);
const count = (value) => number.format(value);
const tokens = (value) => `${count(value)} ${value === 1 ? "token" : "tokens"}`;
const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
const quoted = (text) => `“${text}”`;
const listed = (texts) => (texts ?? []).map(quoted).join(", ");
const percent = (part, whole) => `${whole > 0 ? Math.floor((part / whole) * 100) : 0} %`;

/** What the tab knows. `shown` is the audit, or one result of the preview. */
const state = { audit: null, preview: null, shown: null, strategies: [], query: "" };

// ---- words -----------------------------------------------------------------------------------------------------------

const SOURCES = {
  system: "Instructions",
  character: "Character",
  persona: "Persona",
  lorebook: "Lorebook",
  memory: "Memory",
  example: "Example dialogue",
  summary: "Summary",
  history: "Chat history",
  input: "Current message",
  template: "Template",
  plugin: "Plugin",
  overhead: "Fixed cost of the request",
};

const STRATEGIES = {
  truncate: "The oldest messages leave first.",
  summarize: "The oldest messages leave; their best sentences are quoted in a short summary.",
  "vector-recall": "Least relevant lore and memories leave first, then the oldest messages.",
  manual: "What you marked as excluded leaves first, then the oldest messages.",
  compress: "A model summarises the older half of the chat once it fills three quarters of the window.",
};

const STAGES = {
  select: "pick the messages",
  persona: "character and persona",
  lorebook: "match lorebook entries",
  memory: "recall memories",
  template: "put into order",
  tokenize: "count tokens",
  shift: "make it fit",
  intercept: "plugins",
  recount: "count again",
  serialize: "write the request",
  verify: "count the request",
};

const LOGIC = {
  and_any: "at least one of its secondary keys",
  and_all: "all of its secondary keys",
  not_any: "none of its secondary keys",
  not_all: "not all of its secondary keys",
};

/** Whatever is refused for want of room closes the door for what is less important than it, however small. */
function roomFor(what, { capTokens, usedTokens = 0, needTokens }) {
  if (needTokens === undefined) return `the share of ${what} was used up`;
  const taken = `${what} may take ${tokens(capTokens)}, ${count(usedTokens)} were taken`;
  return usedTokens + needTokens > capTokens
    ? `${taken} and it needs ${count(needTokens)}`
    : `${taken}, and something more important than it no longer fitted: nothing after that is tried`;
}
const keyFound = (detail) =>
  `Its key ${quoted(detail.key ?? "?")} stands in ${detail.messageId ? messageName(detail.messageId) : "the text that was searched"}`;

/** One sentence per reason. A reason that is not here is shown by its code. */
const REASONS = {
  required: () => "Always there.",
  system: () => "Instructions for the model; never dropped.",
  character: () => "Part of the character; never dropped.",
  persona: () => "Who the user is; never dropped.",
  pinned: () => "Pinned, so it stays whatever else has to go.",
  current_input: () => "The message that is being answered.",
  history: () => "Recent enough to fit.",
  overhead: () => "What every request costs beside its messages: framing and tools.",
  lore_constant: () => "This entry is always on.",
  lore_key_match: (detail) => `${keyFound(detail)}.`,
  lore_secondary_match: (detail) =>
    `${keyFound(detail)}, and its condition on secondary keys (${LOGIC[detail.logic] ?? detail.logic}) is met.`,
  lore_recursion: (detail) => `Another entry mentions its key ${quoted(detail.key ?? "?")}.`,
  lore_sticky: () => "It was on in an earlier turn and stays on for a while.",
  lore_forced: (detail) => `The entry forces itself on (${detail.decorator ?? "@@activate"}).`,
  lore_vector_match: () => "It is close in meaning to what was said.",
  memory_relevant: (detail) => `Recalled: it is the ${ordinal(detail.rank)} best match for what was said last.`,
  memory_pinned: () => "A pinned memory.",
  template: () => "Part of the prompt template.",
  example: () => "Example dialogue of the character.",
  kept: () => "It fits.",
  restored_by_host: () => "A plugin or strategy dropped it, but it is protected, so it was put back.",
  summary: (detail) => `Stands for ${plural((detail.covers ?? []).length, "older message")} that left the prompt.`,
  truncated: () => "Shortened to make it fit; the cut is marked in its text.",
  plugin_added: (detail) => `Added by the plugin ${quoted(detail.plugin ?? "?")}.`,
  hidden: () => "Hidden: never sent and never searched.",
  empty: (detail) =>
    detail.reasoningLeftOut
      ? "It is nothing but a model's reasoning, which is not sent back."
      : "There is no text in it.",
  disabled: (detail) =>
    detail.failedPartial ? "The reply failed half-way; it is shown but not sent." : "Switched off.",
  model_mismatch: () => "Meant for another model.",
  trigger_mismatch: (detail) => `Only for ${listed(detail.triggers)}; this was ${quoted(detail.action ?? "?")}.`,
  orphan_tool_call: () => "A tool call that nobody answered.",
  orphan_tool_result: () => "A tool result without the call it answers.",
  incomplete_tool_call: () => "Not all of its tool results are there, so calls and results stay out together.",
  lore_no_key_match: (detail) => `None of its keys stands in the last ${plural(detail.scanDepth ?? 0, "message")}.`,
  lore_no_keys: () => "It has no keys and is not always on, so nothing can bring it in.",
  lore_secondary_unmet: ({ logic, secondaryMissing = [], secondaryMatched = [], ...detail }) => {
    const [found, keys] = String(logic).startsWith("not")
      ? ["found", secondaryMatched]
      : ["not found", secondaryMissing];
    const which = keys.length > 0 ? `; ${found}: ${listed(keys)}` : "";
    return `${keyFound(detail)}, but it also wants ${LOGIC[logic] ?? "its secondary keys"}${which}.`;
  },
  lore_outside_scan_depth: (detail) =>
    `${keyFound(detail)}, which is too far back: only the last ${plural(detail.scanDepth ?? 0, "message is", "messages are")} searched.`,
  lore_probability_failed: (detail) =>
    `It would have come in, but its dice failed: ${Math.round(detail.roll ?? 0)} rolled, ${detail.probability} or less needed.`,
  lore_cooldown: () => "It was on a short while ago and is resting.",
  lore_delay: () => "The chat is still too short for it.",
  lore_delay_until_recursion: () => "It only comes in when another entry mentions it.",
  lore_recursion_excluded: () => "Only another entry mentions its key, and it may not be brought in that way.",
  lore_group_lost: (detail) => `Another entry of its group won${detail.winners ? `: ${listed(detail.winners)}` : ""}.`,
  lore_character_filter: (detail) => `Its filter ${detail.exclude ? "excludes" : "wants"} ${listed(detail.names)}.`,
  lore_tag_filter: (detail) => `Its filter ${detail.exclude ? "excludes" : "wants"} the tags ${listed(detail.tags)}.`,
  lore_budget_exceeded: (detail) => `It matched, but there was no room: ${roomFor("lore", detail)}.`,
  lore_recursion_limit: () => "Entries may only bring in one another so many times.",
  lore_decorator_unmet: (detail) => `A condition in its text (${detail.decorator ?? "decorator"}) is not met.`,
  regex_rejected: (detail) => `Its pattern ${quoted(detail.key ?? "?")} cannot be used safely.`,
  regex_timeout: (detail) => `Its pattern ${quoted(detail.key ?? "?")} took too long.`,
  memory_below_threshold: () => "Not close enough to what was said last.",
  memory_top_k: (detail) => `Others match better, and only ${detail.topK} may be recalled.`,
  memory_duplicate: () => "Another memory says the same.",
  memory_budget_exceeded: (detail) => `It matched, but there was no room: ${roomFor("memories", detail)}.`,
  memory_source_in_prompt: (detail) =>
    `It was learned from ${detail.messageId ? messageName(detail.messageId) : "a message"} that the model reads anyway.`,
  position_slot_missing: (detail) => `The prompt has no place ${quoted(detail.position ?? "?")} for it.`,
  template_disabled: () => "Switched off in the prompt template.",
  shift_oldest: () => "Too old: newer messages filled the window.",
  shift_low_relevance: () => "Less relevant than what stayed, and the window is full.",
  shift_example: () => "Example dialogue makes room for the chat.",
  shift_call_group: () => "An older tool call of this turn; it left with its results to make room.",
  manual_excluded: () => "You marked it as excluded.",
  summarized: () => "Not sent word for word: the summary stands for it.",
  final_shift: () => "Left at the very last count: the finished request was a little too large.",
  plugin_removed: (detail) => `Removed by the plugin ${quoted(detail.plugin ?? "?")}.`,
  strategy_dropped: () => "The strategy left it out without saying why.",
};

/** Headings of the groups of what was left out; the sentences above then speak of one block. */
const LEFT_OUT = {
  hidden: "Hidden messages",
  empty: "Without text",
  disabled: "Switched off",
  model_mismatch: "Meant for another model",
  trigger_mismatch: "Meant for another kind of turn",
  orphan_tool_call: "Tool calls that nobody answered",
  orphan_tool_result: "Tool results without their call",
  incomplete_tool_call: "Tool calls with results missing",
  lore_no_key_match: "Lorebook entries whose keys were not mentioned",
  lore_no_keys: "Lorebook entries without keys",
  lore_secondary_unmet: "Lorebook entries whose second condition was not met",
  lore_outside_scan_depth: "Lorebook entries mentioned too long ago",
  lore_probability_failed: "Lorebook entries that lost their dice roll",
  lore_cooldown: "Lorebook entries that are resting",
  lore_delay: "Lorebook entries that come later in a chat",
  lore_delay_until_recursion: "Lorebook entries that wait for another one",
  lore_recursion_excluded: "Lorebook entries that others may not bring in",
  lore_group_lost: "Lorebook entries that another of their group beat",
  lore_character_filter: "Lorebook entries for other characters",
  lore_tag_filter: "Lorebook entries for other tags",
  lore_budget_exceeded: "Lorebook entries that matched, but there was no room",
  lore_recursion_limit: "Lorebook entries at the end of a chain",
  lore_decorator_unmet: "Lorebook entries with a condition in their text",
  regex_rejected: "Patterns that cannot be used",
  regex_timeout: "Patterns that took too long",
  memory_below_threshold: "Memories that have little to do with what was said last",
  memory_top_k: "Memories that others outdid",
  memory_duplicate: "Memories that repeat another",
  memory_budget_exceeded: "Memories that matched, but there was no room",
  memory_source_in_prompt: "Memories of messages the model reads anyway",
  position_slot_missing: "Lorebook entries with no place to stand",
  template_disabled: "Switched off in the template",
  shift_oldest: "Messages too old to fit",
  shift_low_relevance: "Less relevant than what stayed",
  shift_example: "Example dialogue that made room for the chat",
  shift_call_group: "Older tool calls of this turn",
  manual_excluded: "Excluded by hand",
  summarized: "Replaced by the summary",
  final_shift: "Left at the last count",
  plugin_removed: "Removed by a plugin",
  strategy_dropped: "Left out by the strategy, which gave no reason",
};

const DIAGNOSTICS = {
  summary_written: ({ model = "a model", calls = 0, reused, errorCode, inputTokens, outputTokens }) => {
    if (reused) return "The summary an earlier attempt was given was used again; no model was asked.";
    const cost =
      typeof inputTokens === "number" ? `, ${count(inputTokens)} tokens in and ${count(outputTokens ?? 0)} out` : "";
    const asked = `${model} was asked for a summary (${plural(calls, "call")}${cost})`;
    return errorCode ? `${asked}; it failed: ${readable(errorCode.toLowerCase())}` : `${asked}.`;
  },
  overflow: ({ promptTokens = 0, budgetTokens = 0, newBudgetTokens = 0 }) =>
    `The provider found the prompt of ${count(promptTokens)} tokens too long, so it was fitted again, to ${count(newBudgetTokens)} instead of ${count(budgetTokens)}.`,
  replayed: () => "The request of an earlier run was sent again unchanged; what stands here is of that run.",
  summary_not_smaller: () => "A summary would not have been shorter than what it stands for, so there is none.",
  summary_failed: (detail) => `No summary could be written: ${detail.why ?? "the model did not answer"}.`,
  summary_timeout: () => "The summary took too long, so the messages were dropped instead.",
  summary_empty: () => "The model wrote an empty summary, so the messages were dropped instead.",
  summary_over_budget: () => "There was no room even for the summary.",
  strategy_rejected: () =>
    "The strategy dropped something protected; its result was not used and the oldest messages left instead.",
  strategy_failed: () => "The strategy failed; the oldest messages left instead.",
  strategy_timeout: () => "The strategy took too long; the oldest messages left instead.",
  strategy_edited: () => "The strategy tried to change texts; they were put back.",
  strategy_split_group: () => "The strategy split a tool call from its results; they were kept together.",
  strategy_addition_refused: () => "The strategy tried to add something it may not add.",
  strategy_over_budget: () => "What the strategy kept was too much; more was left out.",
  plugin_added: (detail) => `The plugin ${quoted(detail.plugin ?? "?")} added text.`,
  plugin_removed: (detail) => `The plugin ${quoted(detail.plugin ?? "?")} removed text.`,
  plugin_edited: (detail) => `The plugin ${quoted(detail.plugin ?? "?")} changed text.`,
  plugin_failed: (detail) => `The plugin ${quoted(detail.plugin ?? "?")} failed and was passed over.`,
  plugin_timeout: (detail) => `The plugin ${quoted(detail.plugin ?? "?")} took too long and was passed over.`,
  host_restored: () => "Something protected had been taken out; it was put back.",
  wire_repair: ({ repair, count: times = 1, texts = [] }) => {
    if (repair === "results_moved") return `${plural(times, "tool result")} moved behind the call for the provider.`;
    if (repair === "tools_not_sent") return "The provider takes no tools in this mode, so none were offered.";
    if (repair === "stop_string_left_out") {
      const named = texts.length === 0 ? "" : ` (${texts.map((text) => quoted(text.trim())).join(", ")})`;
      return `${plural(times, "stop string")} left out${named}: providers take no more than four.`;
    }
    return `${plural(times, "text was", "texts were")} repaired for the provider: ${readable(repair ?? "changed")}`;
  },
  vectors_missing: ({ question = 0, candidates = 0 }) =>
    question > 0
      ? "Some of what was said last has no vector yet; words were compared instead of meanings."
      : `${plural(candidates, "text has", "texts have")} no vector yet; their words were compared instead of their meaning.`,
  count_approximate: (detail) =>
    `${plural(detail.texts ?? 1, "unusual text was", "unusual texts were")} counted by estimate.`,
};

const ACTIONS = { drop: "Left out", truncate: "Shortened", summarize: "Summarised", restore: "Put back" };

function ordinal(rank) {
  const word = { 1: "", 2: "second", 3: "third" }[rank];
  return word ?? `${rank}th`;
}

function messageName(id) {
  const block = (state.shown?.blocks ?? []).find((each) => each.refId === id && each.seq !== null);
  if (!block) return "an older message";
  return block.source === "input" ? "the current message" : `message ${block.seq}`;
}

/** Codes may be newer than this page: they are shown as they are. */
const readable = (code) => `${code.replaceAll("_", " ")}.`;
const why = (block) => sentence(REASONS, block.reason, block.reasonDetail ?? {});
const sentence = (words, code, detail) => (Object.hasOwn(words, code) ? words[code](detail) : readable(code));
const sourceName = (source) => SOURCES[source] ?? source;

// ---- building blocks -------------------------------------------------------------------------------------------------

/** An element; `attributes` are set as properties where there is one, strings among `children` become text. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const panel = (title, ...children) => el("section", { class: "panel" }, el("h2", {}, title), ...children);

/** The text with what is searched for marked in it. */
function marked(text) {
  const { query } = state;
  if (query === "") return [text];
  const parts = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(query); at !== -1; at = lower.indexOf(query, from)) {
    parts.push(text.slice(from, at), el("mark", {}, text.slice(at, at + query.length)));
    from = at + query.length;
  }
  return [...parts, text.slice(from)];
}

/** The beginning of a text, or what stands around the word that is searched for; opens to the whole. */
function textOf(block) {
  const calls = (block.toolCalls ?? []).map((call) => `${call.name}(${call.arguments})`);
  const text = [block.content ?? "", ...calls].filter((part) => part !== "").join("\n");
  if (text === "") return null;
  if (text.length <= SNIPPET) return el("p", { class: "text" }, ...marked(text));
  const hit = state.query === "" ? -1 : text.toLowerCase().indexOf(state.query);
  const from = Math.max(0, hit - SNIPPET / 2);
  const snippet = `${from > 0 ? "…" : ""}${text.slice(from, from + SNIPPET).replaceAll(/\s+/g, " ")}…`;
  return el(
    "details",
    { class: "text" },
    el("summary", {}, ...marked(snippet)),
    el("p", { class: "full" }, ...marked(text)),
  );
}

const costOf = (block) => (block.tokens === null ? `up to ${count(block.tokensUpperBound ?? 0)}` : count(block.tokens));

function nameOf(block) {
  if (block.source === "history" || block.source === "input") {
    const speaker = block.name ?? (block.label === block.source ? block.role : block.label);
    return block.seq === null ? speaker : `${speaker}, message ${block.seq}`;
  }
  return block.label === block.source ? sourceName(block.source) : block.label;
}

function marksOf(block) {
  const notes = [];
  if (block.pinned) notes.push("pinned");
  else if (block.protected) notes.push("protected");
  if (block.originalTokens !== null && block.included) notes.push(`shortened from ${tokens(block.originalTokens)}`);
  if (block.reasonDetail?.reasoningLeftOut && block.included) notes.push("sent without its reasoning");
  if (block.reasonDetail?.ignored) notes.push("marked as excluded, which only the strategy manual reads");
  return notes.map((note) => el("span", { class: "mark" }, note));
}

// ---- the report ------------------------------------------------------------------------------------------------------

function render() {
  const { shown } = state;
  const report = $("report");
  report.replaceChildren();
  renderCompare();
  if (shown === null) return;
  report.append(
    verdict(shown),
    tokenPanel(shown),
    searchPanel(),
    el("div", { id: "lists" }, ...lists(shown)),
    stepsPanel(shown),
    ...(shown.diagnostics.length > 0 ? [noticesPanel(shown)] : []),
    stagesPanel(shown),
  );
}

function lists(shown) {
  return [includedPanel(shown), leftOutPanel(shown)];
}

/** What was refused for want of room: the audit keeps the facts themselves, a preview the problem with them. */
function overflowOf({ error, errorCode }) {
  const code = error?.code ?? errorCode;
  return code === "TOKEN_BUDGET_EXCEEDED" ? (error?.params ?? error) : null;
}

function verdict(shown) {
  const { budget, counts } = shown;
  const overflow = overflowOf(shown);
  const lines = overflow ? [tooMuch(shown, overflow)] : [fits(shown)];
  const out = [
    `${plural(counts.included, "part")} ${overflow ? "must stay" : "in the prompt"}`,
    `${count(counts.excluded)} left out`,
    ...(counts.summarised > 0 ? [`${count(counts.summarised)} summarised`] : []),
    ...(counts.truncated > 0 ? [`${count(counts.truncated)} shortened`] : []),
  ];
  const room = [
    `Window: ${tokens(budget.contextLimit)}`,
    `${count(budget.reservedForReply)} kept free for the reply`,
    ...(budget.margin > 0 ? [`${count(budget.margin)} kept free because the count is an estimate`] : []),
  ];
  return el(
    "section",
    { class: "panel" },
    el("p", { class: "lead" }, headline(shown)),
    lines,
    el("p", {}, reachOf(shown)),
    el("p", { class: "lead" }, `${out.join(", ")}. ${room.join(", ")}.`),
    el("ul", { class: "chips" }, ...chips(shown).map(([text, tone]) => el("li", { class: `chip ${tone}` }, text))),
  );
}

/** How far back the chat's own words go: most of what a model "forgets" is beyond that point. */
function reachOf(shown) {
  const { kept, all, from } = historyOf(shown);
  if (all === 0) return "There is no chat history yet.";
  if (kept === 0) return `None of the ${plural(all, "older message")} of the chat is in the prompt.`;
  const reach = from === null ? "" : `; word for word it goes back to message ${count(from)}`;
  return `${count(kept)} of ${plural(all, "older message")} of the chat are in the prompt${reach}.`;
}

function historyOf({ blocks, ranges }) {
  const history = blocks.filter((block) => block.source === "history" && block.reason !== "hidden");
  const kept = history.filter((block) => block.included);
  const seqs = kept.filter((block) => !block.protected && block.seq !== null).map((block) => block.seq);
  const collapsed = ranges.filter(({ reason }) => reason !== "hidden").reduce((sum, range) => sum + range.count, 0);
  return { kept: kept.length, all: history.length + collapsed, from: seqs.length > 0 ? Math.min(...seqs) : null };
}

function headline(shown) {
  if (shown === state.audit) {
    const when = new Date(shown.createdAt).toLocaleString();
    const how = {
      completed: "the reply came",
      failed: "it failed",
      cancelled: "it was stopped",
      prepared: "it is running",
    };
    return `The last turn, ${when}: ${how[shown.status] ?? shown.status}.`;
  }
  return `A preview of the next message under ${quoted(shown.strategy)}. Nothing was sent.`;
}

function fits({ budget, exact }) {
  const used = budget.promptTokens ?? 0;
  const about = exact === false ? "about " : "";
  return el(
    "p",
    { class: "verdict" },
    el("span", { class: "good" }, "✓ Fits: "),
    `${about}${count(used)} of ${tokens(budget.budgetTokens)} used (${percent(used, budget.budgetTokens)})`,
  );
}

function tooMuch({ budget, blocks }, { protectedTokens = 0, budgetTokens = budget.budgetTokens, largest = [] }) {
  const over = protectedTokens - budgetTokens;
  return [
    el(
      "p",
      { class: "verdict" },
      el("span", { class: "bad" }, "✗ Does not fit: "),
      `what must stay costs ${tokens(protectedTokens)}, ${count(over)} more than the ${count(budgetTokens)} there are. ` +
        `No request was sent.`,
    ),
    el("p", { class: "lead" }, "The largest of what must stay; shorten, unpin, or enlarge the window:"),
    el("ul", {}, ...largest.map((each) => el("li", {}, `${largestName(each, blocks)}: ${tokens(each.tokens)}`))),
  ];
}

function largestName({ blockId, source }, blocks) {
  const block = blocks.find(({ id }) => id === blockId);
  const name = block ? nameOf(block) : sourceName(source);
  return name === sourceName(source) ? name : `${sourceName(source)}, ${name}`;
}

function chips(shown) {
  const { tokenizer, strategy, model } = { ...state.preview, ...shown };
  const chosen = [
    [`model ${model}`, ""],
    [`strategy ${strategy}`, ""],
    tokenizer.approximate ? [estimated(tokenizer), "warn"] : ["token counts are exact", ""],
  ];
  const wire = shown.wire ?? state.preview?.wire;
  if (wire?.shape === "text") chosen.push([`sent as one text (${wire.format ?? "rendered"})`, ""]);
  if (shown.errorCode && !overflowOf(shown))
    chosen.push([`the call failed: ${readable(shown.errorCode.toLowerCase())}`, "warn"]);
  if (shown.contentRestricted) chosen.push(["texts are hidden: the key may not read content", "warn"]);
  if (shown.exact === false) chosen.push([inexact(shown), "warn"]);
  const reported = shown.usage?.reported?.inputTokens;
  if (typeof reported === "number") chosen.push([`the provider counted ${count(reported)}${drift(shown.usage)}`, ""]);
  return chosen;
}

function estimated({ calibration }) {
  if (!calibration) return "token counts are estimates, on the high side";
  return `token counts are estimates, times ${calibration.factor} as the provider's reports taught`;
}

function drift({ driftRatio }) {
  return typeof driftRatio === "number" ? `, ${Math.round(driftRatio * 100)} % of ours` : "";
}

function inexact({ blocks }) {
  return blocks.some((block) => block.source === "summary" && block.included)
    ? "not exact: the summary is only written when the turn is sent; its place is kept"
    : "not exact: with another window, lore and memories get another share of it";
}

function tokenPanel(shown) {
  const { budget, blocks } = shown;
  const included = blocks.filter((block) => block.included && block.tokens !== null);
  const bySource = Object.keys(SOURCES).map((source) => {
    const rows = included.filter((block) => block.source === source);
    return { source, rows: rows.length, sum: rows.reduce((total, block) => total + block.tokens, 0) };
  });
  const parts = bySource.filter(({ sum }) => sum > 0);
  const used = parts.reduce((total, { sum }) => total + sum, 0);
  const reserve = budget.reservedForReply + budget.margin;
  const whole = Math.max(budget.contextLimit, used + reserve);
  const free = whole - used - reserve;
  const segments = [
    ...parts.map(({ source, sum }) => [source, sum, `${sourceName(source)}: ${tokens(sum)}`]),
    ["free", free, `Free: ${tokens(free)}`],
    ["reserve", reserve, `Kept free: ${tokens(reserve)}`],
  ];
  const rows = [
    ...parts.map(({ source, sum, rows: many }) => [
      source,
      `${sourceName(source)}${many > 1 ? ` (${many})` : ""}`,
      sum,
    ]),
    ["free", "Still free", free],
    ["reserve", budget.margin > 0 ? "Kept free: reply and margin" : "Kept free for the reply", reserve],
  ];
  return panel(
    "Where the tokens go",
    el(
      "div",
      { class: "bar", "aria-hidden": true },
      ...segments.map(([source, sum, title]) => segment(source, sum, whole, title)),
    ),
    el(
      "ul",
      { class: "legend" },
      ...rows.map(([source, what, sum]) =>
        el(
          "li",
          {},
          el("span", { class: "what" }, el("span", { class: `swatch ${source}` }), what),
          el("span", { class: "number" }, `${count(sum)} · ${percent(sum, whole)}`),
        ),
      ),
    ),
  );
}

function segment(source, sum, whole, title) {
  const node = el("span", { class: source, title });
  node.style.width = `${(sum / whole) * 100}%`;
  return sum > 0 ? node : null;
}

function searchPanel() {
  const answer = el("div", { id: "found", role: "status", "aria-live": "polite" });
  const input = el("input", {
    id: "search",
    type: "search",
    autocomplete: "off",
    placeholder: "a name, a word, a phrase",
    "aria-label": "Why did it not know this?",
    value: state.query,
    oninput: (event) => {
      state.query = event.target.value.trim().toLowerCase();
      answer.replaceChildren(...findings());
      $("lists").replaceChildren(...lists(state.shown));
    },
  });
  answer.append(...findings());
  return panel(
    "Why did it forget?",
    el(
      "p",
      { class: "lead" },
      "Look for something the model should have known: in its prompt, or among what was left out.",
    ),
    input,
    answer,
  );
}

/** Where the searched words stand, and why not in the prompt. */
function findings() {
  const { query, shown } = state;
  if (query === "") return [];
  const hits = shown.blocks.filter((block) => `${block.content ?? ""} ${block.label}`.toLowerCase().includes(query));
  const [inside, outside] = [hits.filter((block) => block.included), hits.filter((block) => !block.included)];
  const unlisted = shown.ranges.reduce((sum, range) => sum + range.count, 0);
  const lines = [
    inside.length > 0 &&
      `In the prompt: ${plural(inside.length, "part")}, first at place ${(inside[0].order ?? 0) + 1}.`,
    ...outside
      .slice(0, 5)
      .map((block) => `Left out: ${sourceName(block.source)} ${quoted(nameOf(block))}. ${why(block)}`),
    outside.length > 5 && `… and ${plural(outside.length - 5, "more part")} left out; they are marked below.`,
    hits.length === 0 &&
      "It stands nowhere: not in the chat as listed here, not in lore or memories. The model cannot know it.",
    unlisted > 0 &&
      `${plural(unlisted, "old message is", "old messages are")} not listed one by one and were not searched.`,
  ];
  return lines.filter(Boolean).map((line) => el("p", { class: "text" }, line));
}

function includedPanel(shown) {
  const { blocks } = shown;
  const title = overflowOf(shown) ? "What must stay" : "In the prompt, in the order it was sent";
  const sent = blocks.filter((block) => block.order !== null).sort((a, b) => a.order - b.order);
  const overhead = blocks.filter((block) => block.included && block.order === null);
  return panel(
    `${title} (${count(sent.length)})`,
    el("ol", { class: "blocks" }, ...[...sent, ...overhead].map(includedRow)),
  );
}

function includedRow(block) {
  return el(
    "li",
    { class: "block" },
    el("span", { class: "place" }, block.order === null ? "" : String(block.order + 1)),
    el("span", {}, el("span", { class: `swatch ${block.source}` }), sourceName(block.source)),
    bodyOf(block),
    el("span", { class: "number" }, costOf(block)),
  );
}

function bodyOf(block) {
  return el(
    "div",
    { class: "body" },
    el("span", { class: "name" }, ...marked(nameOf(block))),
    " ",
    marksOf(block),
    el("span", { class: "why" }, why(block)),
    textOf(block),
  );
}

function leftOutPanel({ blocks, ranges }) {
  const groups = new Map();
  const groupOf = (reason) => {
    if (!groups.has(reason)) groups.set(reason, { reason, rows: [], ranges: [], count: 0 });
    return groups.get(reason);
  };
  for (const block of blocks.filter((each) => !each.included)) {
    const group = groupOf(block.reason);
    group.rows.push(block);
    group.count += 1;
  }
  for (const range of ranges) {
    const group = groupOf(range.reason);
    group.ranges.push(range);
    group.count += range.count;
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const total = sorted.reduce((sum, group) => sum + group.count, 0);
  if (total === 0)
    return panel("Left out", el("p", { class: "lead" }, "Nothing: everything there is went into the prompt."));
  return panel(`Left out, by reason (${count(total)})`, ...sorted.map(leftOutGroup));
}

function leftOutGroup({ reason, rows, ranges, count: many }) {
  const known = rows.filter((block) => block.tokens !== null);
  const sum = [...known, ...ranges].reduce((total, each) => total + (each.tokens ?? 0), 0);
  const hit = state.query !== "" && rows.some((block) => (block.content ?? "").toLowerCase().includes(state.query));
  const title = LEFT_OUT[reason] ?? readable(reason).replace(/\.$/, "");
  return el(
    "details",
    { class: "group", open: hit },
    el(
      "summary",
      {},
      el("h3", { class: "grow" }, title),
      el("span", { class: "number" }, `${count(many)}${sum > 0 ? ` · ${tokens(sum)}` : ""}`),
    ),
    ...ranges.map((range) =>
      el(
        "p",
        { class: "text" },
        `Messages ${count(range.fromSeq)} to ${count(range.toSeq)}: ${plural(range.count, "message")}` +
          `${range.tokens === null ? "" : `, ${tokens(range.tokens)}`}.`,
      ),
    ),
    el("ul", { class: "blocks" }, ...rows.slice(0, MOST_ROWS).map(leftOutRow)),
    rows.length > MOST_ROWS && el("p", { class: "text" }, `… and ${count(rows.length - MOST_ROWS)} more.`),
  );
}

function leftOutRow(block) {
  return el(
    "li",
    { class: "block left" },
    el("span", {}, el("span", { class: `swatch ${block.source}` }), sourceName(block.source)),
    bodyOf(block),
    el("span", { class: "number" }, costOf(block)),
  );
}

function stepsPanel({ shiftSteps, blocks, omitted }) {
  const known = new Map(blocks.map((block) => [block.id, block]));
  const named = (ids) => {
    const names = ids.slice(0, 3).map((id) => (known.has(id) ? nameOf(known.get(id)) : "an old message"));
    return `${names.join("; ")}${ids.length > 3 ? ` and ${count(ids.length - 3)} more` : ""}`;
  };
  if (shiftSteps.length === 0) {
    return panel("How it was made to fit", el("p", { class: "lead" }, "Everything fitted; nothing had to leave."));
  }
  const rows = shiftSteps
    .slice(0, MOST_ROWS)
    .map(({ action, blockIds, tokensBefore, tokensAfter }) =>
      el(
        "li",
        {},
        `${ACTIONS[action] ?? action}: ${named(blockIds)}. `,
        el("span", { class: "tone" }, `${count(tokensBefore)} → ${tokens(tokensAfter)}`),
      ),
    );
  const unlisted = (omitted?.shiftSteps ?? 0) + Math.max(0, shiftSteps.length - MOST_ROWS);
  const [first, last] = [shiftSteps[0], shiftSteps.at(-1)];
  return panel(
    "How it was made to fit",
    el(
      "p",
      { class: "lead" },
      `${plural(shiftSteps.length + (omitted?.shiftSteps ?? 0), "step")}, from ${count(first.tokensBefore)} to ${tokens(last.tokensAfter)}. ` +
        "The size is known after every single one.",
    ),
    el(
      "details",
      {},
      el("summary", {}, "Show the steps"),
      el("ol", { class: "steps" }, ...rows),
      unlisted > 0 && el("p", { class: "text" }, `${plural(unlisted, "step is", "steps are")} not listed.`),
    ),
  );
}

function noticesPanel({ diagnostics }) {
  const items = diagnostics.map(({ code, detail }) => el("li", {}, sentence(DIAGNOSTICS, code, detail ?? {})));
  return panel("Worth knowing", el("ul", {}, ...items));
}

function stagesPanel(shown) {
  const stages = shown.stages ?? state.preview?.stages ?? [];
  const longest = Math.max(0.1, ...stages.map(({ ms }) => ms));
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  const row = ({ name, ms, blocksIn, blocksOut, tokensOut }) => {
    const bar = el("span", { class: "history" });
    bar.style.width = `${(ms / longest) * 100}%`;
    return el(
      "tr",
      {},
      el("td", {}, STAGES[name] ?? name),
      el("td", {}, el("div", { class: "bar thin", "aria-hidden": true }, bar)),
      el("td", { class: "number" }, `${ms.toFixed(1)} ms`),
      el("td", { class: "number" }, `${count(blocksIn)} → ${count(blocksOut)}`),
      el("td", { class: "number" }, tokensOut === null ? "–" : count(tokensOut)),
    );
  };
  const heads = ["Stage", "", "Time", "Parts", "Tokens"].map((head) => el("th", { scope: "col" }, head));
  return panel(
    `How long it took to assemble: ${total.toFixed(1)} ms`,
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Stages with their times" },
      el("table", { class: "stages" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...stages.map(row))),
    ),
  );
}

// ---- what if ---------------------------------------------------------------------------------------------------------

function renderCompare() {
  const { preview, audit, shown } = state;
  if (preview === null) return $("compare").replaceChildren();
  const heads = ["Strategy", "Result", "Chat history kept", "Summarised", "Left out", "Against the one in use"];
  const rows = preview.shifts.map((result) => compareRow(result, preview));
  const table = el(
    "table",
    { class: "compare" },
    el("caption", { class: "lead" }, `In use for this chat: ${quoted(preview.strategy)}. Choose one to see it below.`),
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows),
  );
  const back =
    audit !== null &&
    shown !== audit &&
    el(
      "button",
      { type: "button", class: "quiet", onclick: () => show(audit) },
      "Back to the last turn as it was sent",
    );
  $("compare").replaceChildren(el("div", { class: "scroll" }, table), ...(back ? [back] : []));
}

function compareRow(result, preview) {
  const { contextStrategy, counts, budget } = result;
  const pick = el(
    "button",
    {
      type: "button",
      class: "pick quiet",
      "aria-pressed": String(state.shown === result),
      onclick: () => show(result),
    },
    contextStrategy,
  );
  const { kept, from } = historyOf(result);
  const about = result.exact ? "" : "about ";
  const outcome = result.fits
    ? `✓ fits, ${about}${count(budget.promptTokens ?? 0)} (${percent(budget.promptTokens ?? 0, budget.budgetTokens)})`
    : "✗ does not fit";
  const cell = (head, ...children) => el("td", { "data-head": head }, ...children);
  return el(
    "tr",
    {},
    el("td", {}, pick, el("br"), el("span", { class: "tone" }, STRATEGIES[contextStrategy] ?? "Added by a plugin.")),
    cell("Result", outcome),
    cell("Chat history kept", from === null ? kept : `${kept}, from message ${count(from)}`),
    cell("Summarised", count(counts.summarised)),
    cell("Left out", count(counts.excluded)),
    cell("Against the one in use", difference(preview, result)),
  );
}

function difference(base, other) {
  const ids = ({ blocks }) => new Set(blocks.filter((block) => block.included).map((block) => block.id));
  const [before, after] = [ids(base), ids(other)];
  const more = [...after].filter((id) => !before.has(id)).length;
  const fewer = [...before].filter((id) => !after.has(id)).length;
  if (more === 0 && fewer === 0) return "the same";
  return [more > 0 && `${plural(more, "part")} more`, fewer > 0 && `${plural(fewer, "part")} fewer`]
    .filter(Boolean)
    .join(", ");
}

function show(result) {
  state.shown = result;
  render();
  $("report").scrollIntoView({ block: "start" });
  $("report").focus({ preventScroll: true });
}

// ---- the API ---------------------------------------------------------------------------------------------------------

async function ask(path, body) {
  const answer = await fetch(`/api/v2${path}`, {
    method: body === undefined ? "GET" : "POST",
    cache: "no-store",
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const content = await answer.json();
  if (answer.ok) return content;
  throw Object.assign(new Error(`${content.detail} (${content.code}, request ${content.requestId})`), content);
}

/** Runs one thing at a time and says how it went. */
async function busy(text, work) {
  const buttons = [...document.querySelectorAll("main form button")];
  for (const button of buttons) button.disabled = true;
  say(text);
  try {
    say((await work()) ?? "");
  } catch (error) {
    say(error.message, true);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function say(text, isBad = false) {
  $("status").textContent = text;
  $("status").className = isBad ? "status bad" : "status";
}

async function open() {
  const chat = $("chat").value.trim();
  history.replaceState(null, "", `#chat=${encodeURIComponent(chat)}`);
  Object.assign(state, { audit: null, preview: null, shown: null, query: "" });
  render();
  const [{ audit, pending }, { items }] = await Promise.all([
    ask(`/chats/${encodeURIComponent(chat)}/context-audit`),
    ask("/context-strategies"),
  ]);
  Object.assign(state, { audit, shown: audit, strategies: items.map(({ id }) => id) });
  const input = audit?.blocks.find((block) => block.source === "input");
  $("message").value = input?.content ?? "";
  $("limit").placeholder = audit ? String(audit.budget.contextLimit) : "as usual";
  $("lab").hidden = false;
  $("lab").open = audit === null;
  render();
  if (pending) return "A new turn of this chat is running; this is the one before it. Open it again for the new one.";
  return audit ? "" : "Nothing was sent in this chat yet. Write a message below and compare strategies.";
}

async function tryStrategies() {
  const limit = $("limit").value === "" ? null : Number($("limit").value);
  const message = $("message").value;
  const turn = {
    chatId: $("chat").value.trim(),
    ...(message.trim() === "" ? {} : { message }),
    ...(limit === null ? {} : { budget: { contextLimit: limit } }),
    shifts: state.strategies.slice(0, MOST_SHIFTS).map((contextStrategy) => ({ contextStrategy })),
  };
  const withText = (error) => {
    if (error.code !== "INSUFFICIENT_SCOPE") throw error;
    return ask("/context-preview", turn);
  };
  state.preview = await ask("/context-preview", { ...turn, include: ["content"] }).catch(withText);
  const { shifts, strategy } = state.preview;
  state.shown = shifts.find((each) => each.contextStrategy === strategy) ?? state.preview;
  render();
  return `Compared ${plural(shifts.length, "strategy", "strategies")}.`;
}

/** Recent chats to choose from; a key that may not list chats still opens one by its id. */
async function offerChats() {
  const { items } = await ask("/chats?limit=50").catch(() => ({ items: [] }));
  $("chats").replaceChildren(
    ...items.map(({ id, title, updatedAt }) =>
      el("option", { value: id }, `${title || "untitled"}, ${new Date(updatedAt).toLocaleString()}`),
    ),
  );
}

// ---- theme and start -------------------------------------------------------------------------------------------------

const THEMES = ["system", "light", "dark"];

function applyTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("theme").textContent = `Theme: ${theme}`;
}

function start() {
  applyTheme(THEMES.includes(localStorage.getItem(THEME)) ? localStorage.getItem(THEME) : "system");
  $("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(localStorage.getItem(THEME) ?? "system") + 1) % THEMES.length];
    localStorage.setItem(THEME, next);
    applyTheme(next);
  });
  $("key").value = sessionStorage.getItem(KEY) ?? "";
  $("key").addEventListener("change", () => {
    sessionStorage.setItem(KEY, $("key").value.trim());
    void offerChats();
  });
  $("forget").addEventListener("click", () => {
    sessionStorage.removeItem(KEY);
    $("key").value = "";
    $("chats").replaceChildren();
    $("lab").hidden = true;
    Object.assign(state, { audit: null, preview: null, shown: null });
    render();
    say("The key is forgotten.");
  });
  $("open").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, $("key").value.trim());
    void busy("Reading the audit …", open);
  });
  $("try").addEventListener("submit", (event) => {
    event.preventDefault();
    void busy("Assembling …", tryStrategies);
  });
  $("chat").value = new URLSearchParams(location.hash.slice(1)).get("chat") ?? "";
  if ($("key").value !== "") void offerChats();
  if ($("key").value !== "" && $("chat").value !== "") void busy("Reading the audit …", open);
}

start();
