const LEFT_OUT_SHOWN = 3;

/** Stages with times, the audit as a table, the outcome. */
export function printGeneration({ id, status, timings, audit, reply, usage, error }) {
  console.log(`\ngeneration ${id}\n`);
  console.log("stage         ms   blocks in → out   tokens in → out");
  for (const stage of timings.stages) console.log(stageLine(stage));
  if (audit) printAudit(audit);
  if (reply) console.log(`\nreply: ${shorten(reply.replaceAll("\n", " "), 160)}`);
  console.log(`tokens: ${audit?.budget.promptTokens} counted, ${usage.inputTokens ?? "none"} reported by the provider`);
  console.log(`status: ${status}${error ? ` (${error.code}: ${error.detail})` : ""}`);
}

function stageLine({ name, ms, blocksIn, blocksOut, tokensIn, tokensOut }) {
  const blocks = `${blocksIn} → ${blocksOut}`.padStart(17);
  const tokens = `${tokensIn ?? "–"} → ${tokensOut ?? "–"}`.padStart(17);
  return `${name.padEnd(10)} ${ms.toFixed(1).padStart(5)} ${blocks} ${tokens}`;
}

function printAudit({ budget, blocks, ranges = [], counts, tokenizer, strategy }) {
  const { promptTokens, contextLimit, reservedForReply, margin } = budget;
  console.log(
    `\naudit: ${promptTokens} of ${budget.budgetTokens ?? contextLimit - reservedForReply - margin} tokens ` +
      `(window ${contextLimit}, reply ${reservedForReply}, ${tokenizer.profile}${tokenizer.approximate ? ", estimated" : ""}, ${strategy})`,
  );
  console.log("  #  tokens  source     role       reason               what");
  for (const block of blocks.filter((row) => row.included)) console.log(blockLine(block));
  console.log(`left out: ${counts.excluded}`);
  for (const [reason, rows] of groupByReason(blocks, ranges)) console.log(reasonLine(reason, rows));
}

function blockLine({ order, tokens, source, role, reason, label, content }) {
  const what = shorten(`${label}${content ? `: ${content.replaceAll(/\s+/g, " ")}` : ""}`, 70);
  const columns = [String(order ?? "").padStart(3), String(tokens ?? "?").padStart(7), ""];
  return `${columns.join(" ")} ${source.padEnd(10)} ${role.padEnd(10)} ${reason.padEnd(20)} ${what}`;
}

function groupByReason(blocks, ranges) {
  const groups = new Map();
  const add = (reason, label, count) => {
    const rows = groups.get(reason) ?? { count: 0, labels: [] };
    rows.count += count;
    rows.labels.push(label);
    groups.set(reason, rows);
  };
  for (const row of blocks) if (!row.included) add(row.reason, row.label, 1);
  for (const range of ranges) add(range.reason, `messages ${range.fromSeq}–${range.toSeq}`, range.count);
  return [...groups].sort(([, a], [, b]) => b.count - a.count);
}

function reasonLine(reason, { count, labels }) {
  const shown = labels.slice(0, LEFT_OUT_SHOWN).map((label) => shorten(label, 28));
  const more = labels.length > LEFT_OUT_SHOWN ? ", …" : "";
  return `${String(count).padStart(5)}  ${reason.padEnd(26)} ${shown.join(", ")}${more}`;
}

function shorten(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Where everything is, and the first request to try. */
export function printWelcome(url, demo, { redisUrl }) {
  console.log(`
The demo's provider is "echo": built in, offline, it repeats what it was sent. README.md shows how to use a real model.

  API        ${url}            reference ${url}/docs
  audit page ${url}/audit#chat=${demo.chatId()}
  queue      ${redisUrl ? "Redis" : "PostgreSQL"}
  logs       .data/api.log, .data/worker.log
  API key    ${demo.apiKey}
  chat       ${demo.chatId()}

curl -N ${url}/api/v2/chats/${demo.chatId()}/generations \\
  -H 'Authorization: Bearer ${demo.apiKey}' -H 'Accept: text/event-stream' \\
  -H 'Content-Type: application/json' -d '{"message": "What is at the bottom of the stairs?"}'

Ctrl-C stops everything this command started.`);
}
