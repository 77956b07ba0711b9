import type { MeasuredBlock } from "./strategy.ts";

const encoder = new TextEncoder();

/** The count, or for an uncounted block its bound: no byte-level vocabulary gives more tokens than UTF-8 bytes. */
export function boundTokens(block: MeasuredBlock): number {
  return block.tokens ?? upperBoundTokens(block);
}

/** UTF-8 bytes of everything the block may send, plus framing. */
export function upperBoundTokens(block: Pick<MeasuredBlock, "content" | "name" | "toolCalls" | "toolCallId">): number {
  const calls = block.toolCalls.map((call) => `${call.id}${call.name}${call.arguments}{}`);
  const text = [block.content, block.name ?? "", block.toolCallId ?? "", ...calls].join("");
  return encoder.encode(text).length + FRAMING_BOUND * (1 + block.toolCalls.length);
}

// No framing of any profile costs more per message or per call; a blank result's filler is within it too.
const FRAMING_BOUND = 16;
