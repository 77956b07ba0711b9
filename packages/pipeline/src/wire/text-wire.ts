import type { CountedBlock, Role } from "../block.ts";
import { AssemblyInputError } from "../errors.ts";
import { INSTRUCT_FORMATS, instructFormat } from "../template/formats.ts";
import type { InstructFormat } from "../template/instruct-format.ts";
import { neutralise } from "../template/neutralise.ts";
import { openReply, renderTurn, stopStrings, type TurnRole } from "../template/render-turn.ts";
import { countParameters } from "../tokens/counter.ts";
import { isChatRequest } from "./chat-request.ts";
import { toWireMessage, type WireBlock, type WireRepair } from "./openai-chat.ts";
import { textRequest } from "./openai-text.ts";
import { speakerName, speakerOf, speakerOfRole, withSpeaker, type Speakers } from "./speakers.ts";
import { chooseStopStrings } from "./stop-strings.ts";
import { placeResultsBehindCalls } from "./tool-order.ts";
import { textWithTools } from "./tool-text.ts";
import { validateTextRequest } from "./validate-text.ts";
import type { Repaired, Segment, Wire, WireContext, Written } from "./wire.ts";

/** Tokens may merge differently where two segments meet; one for each border keeps the sum an upper bound. */
const BORDER_TOKENS = 1;

/**
 * Text completions: every block a turn in an instruct format, then the opening of the reply. Nobody's text can end a
 * turn: the format's own marks are put out of action in it. Tool use becomes text; tools are not offered.
 */
export function textWire({ settings, speakers }: WireContext): Wire {
  const format = checkedFormat(settings.wire?.shape === "text" ? settings.wire.format : "");
  const isContinuing = settings.action === "continue";
  const character = speakerName(speakers.char);
  const ofFormat = stopStrings(format, { user: speakerName(speakers.user), character });
  const stop = chooseStopStrings([...(settings.parameters.stop ?? []), ...ofFormat]);
  const withheld: readonly Repaired[] = [
    ...(settings.tools.length === 0 ? [] : [{ repair: "tools_not_sent" as const, blockId: null }]),
    ...stop.leftOut,
  ];

  function write(blocks: readonly CountedBlock[], maxTokens: number): Written {
    const turns = blocks.map((block) => ({ blockId: block.id, ...toTurn(block, format, speakers) }));
    const repaired = turns.flatMap(({ repairs, blockId }) => repairs.map((repair) => ({ repair, blockId })));
    const { prompt, segments } = render(turns, format, { isContinuing, character });
    const request = textRequest(settings, prompt, stop.sent, maxTokens);
    return { request, segments, repaired: [...withheld, ...repaired] };
  }

  return {
    facts: { shape: "text", format: format.id, postProcessing: "none" },
    countBlock(counter, block) {
      const { role, text } = toTurn(block, format, speakers);
      return counter.countText(renderTurn(format, role, text)) + BORDER_TOKENS;
    },
    countOverhead: (counter) =>
      counter.countText(openReply(format, character, "…")) +
      BORDER_TOKENS +
      countParameters(counter, settings.parameters.extra),
    arrange(blocks) {
      const placed = placeResultsBehindCalls(blocks);
      return isContinuing ? continuedLast(placed) : placed;
    },
    write,
    validate: (request) => (isChatRequest(request) ? ["prompt: none, but messages"] : validateTextRequest(request)),
  };
}

function checkedFormat(id: string): InstructFormat {
  const format = instructFormat(id);
  if (format !== null) return format;
  throw new AssemblyInputError(
    "VALIDATION_FAILED",
    "/wire/format",
    `There is no instruct format "${id}".`,
    `Choose one of: ${Object.keys(INSTRUCT_FORMATS).join(", ")}.`,
  );
}

interface Turn {
  /** The block's own; the turn's is `role`. */
  readonly blockRole: Role;
  readonly role: TurnRole;
  readonly text: string;
  readonly repairs: readonly WireRepair[];
}

function toTurn(block: WireBlock, format: InstructFormat, speakers: Speakers): Turn {
  const { message, repairs } = toWireMessage({ ...block, name: null });
  const written = withSpeaker(textWithTools(message), speakerShown(block, format, speakers));
  const text = neutralise(written, format);
  return {
    blockRole: block.role,
    role: block.role === "tool" ? "user" : block.role,
    text,
    repairs: text === written ? repairs : [...repairs, "control_text_neutralised"],
  };
}

function speakerShown(block: WireBlock, { names }: InstructFormat, speakers: Speakers): string | null {
  const named = speakerOf(block, speakers);
  const implied = speakerOfRole(block.role, speakers);
  switch (names) {
    case "none":
      return null;
    case "always":
      return named ?? implied;
    case "force":
      return named === implied ? null : named;
  }
}

function render(
  turns: readonly (Turn & { readonly blockId: string })[],
  format: InstructFormat,
  reply: { readonly isContinuing: boolean; readonly character: string },
): { readonly prompt: string; readonly segments: readonly Segment[] } {
  const segments: Segment[] = [];
  let prompt = "";
  const add = (text: string, role: Role, blockId: string | null): void => {
    const from = prompt.length;
    prompt += text;
    segments.push({ blockId, role, at: { message: null, from, to: prompt.length } });
  };
  const last = turns.at(-1);
  const goesOn = reply.isContinuing && last?.blockRole === "assistant";
  for (const turn of turns) {
    add(renderTurn(format, turn.role, turn.text, goesOn && turn === last), turn.blockRole, turn.blockId);
  }
  if (!goesOn) add(openReply(format, reply.character, prompt), "assistant", null);
  return { prompt, segments };
}

/** The reply that is continued stands last and open; instructions behind the history come before it. */
function continuedLast(blocks: readonly CountedBlock[]): readonly CountedBlock[] {
  const index = blocks.findLastIndex(({ source }) => source === "history" || source === "input");
  const continued = blocks[index];
  if (continued?.role !== "assistant" || index === blocks.length - 1) return blocks;
  return [...blocks.slice(0, index), ...blocks.slice(index + 1), continued];
}
