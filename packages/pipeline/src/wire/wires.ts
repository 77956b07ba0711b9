import type { WireFacts } from "../prompt.ts";
import type { WireSettings } from "../settings.ts";
import { chatWire } from "./chat-wire.ts";
import { textWire } from "./text-wire.ts";
import type { Wire, WireContext } from "./wire.ts";

/** Every wire shape. A new one is a file and a line here; `wire.contract.test.ts` picks it up. */
export const WIRES = { chat: chatWire, text: textWire } as const satisfies Record<
  WireSettings["shape"],
  (context: WireContext) => Wire
>;

/** The wire that the settings ask for. Throws `AssemblyInputError` for a format or mode that does not exist. */
export function wireFor(context: WireContext): Wire {
  return WIRES[context.settings.wire?.shape ?? "chat"](context);
}

/** Block i is message i: how every request was made before there was a choice. */
export const PLAIN_CHAT: WireFacts = { shape: "chat", format: null, postProcessing: "none" };

/** The wire that wrote an audited request, for counting rows that are not in it. Who spoke is not known any more. */
export function wireOfFacts(facts: WireFacts): Wire {
  const wire = facts.format === null ? { shape: "chat" } : { shape: "text", format: facts.format };
  const settings = {
    action: "reply",
    model: "",
    parameters: {},
    tools: [],
    postProcessing: facts.postProcessing,
  } as const;
  return wireFor({ settings: { ...settings, wire: wire as WireSettings }, speakers: { user: "", char: "" } });
}
