import { AssemblyInputError } from "../errors.ts";
import { POST_PROCESSING, type PostProcessing } from "../settings.ts";
import { countOverhead } from "../tokens/counter.ts";
import { isChatRequest } from "./chat-request.ts";
import { chatRequest, toWireMessage, wireTools } from "./openai-chat.ts";
import { keepsTools, PLACEHOLDER, postProcess, toPiece } from "./post-process.ts";
import { chooseStopStrings } from "./stop-strings.ts";
import { placeResultsBehindCalls } from "./tool-order.ts";
import { validateChatRequest } from "./validate.ts";
import type { Repaired, Wire, WireContext, Written } from "./wire.ts";

/** Chat completions: a message for each block, or what a post-processing mode makes of them. */
export function chatWire({ settings, speakers }: WireContext): Wire {
  const mode = checkedMode(settings.postProcessing ?? "none");
  const tools = keepsTools(mode) ? settings.tools : [];
  const sent = { ...settings, tools };
  const withheld: readonly Repaired[] = [
    ...(tools.length === settings.tools.length ? [] : [{ repair: "tools_not_sent" as const, blockId: null }]),
    ...chooseStopStrings(settings.parameters.stop ?? []).leftOut,
  ];
  const write = (blocks: Parameters<Wire["write"]>[0], maxTokens: number): Written => {
    const pieces = blocks.map((block) => toPiece(block, mode, speakers));
    const { messages, segments } = postProcess(pieces, mode);
    const repaired = pieces.flatMap(({ repairs, blockId }) => repairs.map((repair) => ({ repair, blockId })));
    return { request: chatRequest(sent, messages, maxTokens), segments, repaired: [...withheld, ...repaired] };
  };
  return {
    facts: { shape: "chat", format: null, postProcessing: mode },
    countBlock: (counter, block) => counter.countMessage(toPiece(block, mode, speakers).message),
    countOverhead: (counter) =>
      countOverhead(counter, wireTools(tools), settings.parameters.extra) +
      (mode.startsWith("strict") ? counter.countMessage(PLACEHOLDER) : 0),
    arrange: placeResultsBehindCalls,
    write: mode === "none" ? (blocks, maxTokens) => writeEach(blocks, sent, maxTokens, withheld) : write,
    validate: (request) =>
      isChatRequest(request) ? validateChatRequest(request, mode) : ["messages: none, but a prompt"],
  };
}

/** Block i is message i, so that counts add up exactly. */
function writeEach(
  blocks: Parameters<Wire["write"]>[0],
  settings: Parameters<typeof chatRequest>[0],
  maxTokens: number,
  withheld: readonly Repaired[],
): Written {
  const wire = blocks.map(toWireMessage);
  const messages = wire.map(({ message }) => message);
  const repaired = blocks.flatMap(({ id }, index) =>
    (wire[index]?.repairs ?? []).map((repair) => ({ repair, blockId: id })),
  );
  return { request: chatRequest(settings, messages, maxTokens), segments: null, repaired: [...withheld, ...repaired] };
}

function checkedMode(mode: PostProcessing): PostProcessing {
  if (POST_PROCESSING.includes(mode)) return mode;
  throw new AssemblyInputError(
    "VALIDATION_FAILED",
    "/postProcessing",
    `There is no post-processing mode "${mode as string}".`,
    `Choose one of: ${POST_PROCESSING.join(", ")}.`,
  );
}
