import type { CountedBlock } from "../block.ts";
import type { ProviderRequest } from "../prompt.ts";
import type { WireSettings } from "../settings.ts";
import { wireFor } from "./wires.ts";

/** A request of one user message and nothing else, in the shape a provider takes: for helper calls such as a summary. */
export function singleTurnRequest(call: {
  readonly wire: WireSettings;
  readonly model: string;
  readonly text: string;
  readonly maxTokens: number;
}): ProviderRequest {
  const { wire, model, text, maxTokens } = call;
  const settings = { action: "reply", model, parameters: {}, tools: [], wire } as const;
  const turn: CountedBlock = {
    id: "turn",
    source: "input",
    role: "user",
    content: text,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: true,
    relevance: null,
    refId: null,
    label: "turn",
    seq: null,
    groupId: null,
    stage: "select",
    reason: "current_input",
    reasonDetail: null,
    tokens: 0,
  };
  return wireFor({ settings, speakers: { user: "User", char: "Assistant" } }).write([turn], maxTokens).request;
}
