import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messagesOfBlocks } from "../audit/messages-of-blocks.ts";
import { readAuditDocument, toAuditDocument, type AuditDocument } from "../audit/audit-document.ts";
import { BLOCK_SOURCES, type Block } from "../block.ts";
import { buildPrompt } from "../build-prompt.ts";
import type { Conversation } from "../conversation.ts";
import type { AssemblyReport, AuditBlock, ProviderRequest } from "../prompt.ts";
import { POST_PROCESSING, type AssemblySettings } from "../settings.ts";
import { countRequest } from "../stages/verify.ts";
import { chatml } from "../template/formats/chatml.ts";
import { INSTRUCT_FORMATS, type InstructFormatId } from "../template/formats.ts";
import { neutralise } from "../template/neutralise.ts";
import { aBlock, aConversation, aMessage, anInput, theWire } from "../testing/conversation.ts";
import { assembled, conversations, settings } from "../testing/conversations.ts";
import { createCounter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { isChatRequest, providerMessages } from "./chat-request.ts";
import { WIRES } from "./wires.ts";

type WireChoice = Pick<AssemblySettings, "wire" | "postProcessing">;

/** Every way to put blocks on the wire. */
const CHOICES: readonly (readonly [string, WireChoice])[] = [
  ...POST_PROCESSING.map((postProcessing) => [`chat, ${postProcessing}`, { postProcessing }] as const),
  ...(Object.keys(INSTRUCT_FORMATS) as InstructFormatId[]).map(
    (format) => [`text, ${format}`, { wire: { shape: "text", format } }] as const,
  ),
];
const RUNS = { seed: 20_260_304, numRuns: 80 };
const signal = new AbortController().signal;

type Sent = AssemblyReport & { readonly request: ProviderRequest };

/** Builds prompts of random chats and checks those that could be made; most can. */
async function checking(
  choice: WireChoice,
  check: (report: Sent, settings: Partial<AssemblySettings>, conversation: Conversation) => void,
) {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(conversations, settings, async (conversation, chosen) => {
      const report = await assembled(conversation, { ...chosen, ...choice });
      const { request } = report;
      if (request === null) return;
      seen += 1;
      check({ ...report, request }, chosen, conversation);
    }),
    RUNS,
  );
  expect(seen).toBeGreaterThan(RUNS.numRuns / 3);
}

it("leaves no wire shape out", () => {
  const shapes = CHOICES.map(([, { wire }]) => wire?.shape ?? "chat");
  expect([...new Set(shapes)]).toEqual(Object.keys(WIRES));
});

const textOf = (request: ProviderRequest): string => JSON.stringify(providerMessages(request));
const sentRows = (rows: readonly AuditBlock[]) => rows.filter(({ order }) => order !== null);

describe.each(CHOICES)("wire %s", (_name, choice) => {
  it("makes requests that no provider refuses, counted as they are sent, within the budget", async () => {
    await checking(choice, ({ request, budget }, chosen) => {
      expect(theWire({ ...chosen, ...choice }).validate(request)).toEqual([]);
      expect(countRequest(createCounter(profileFor(request.model)), request)).toBe(budget.promptTokens);
      expect(budget.promptTokens).toBeLessThanOrEqual(budget.budgetTokens);
      expect((budget.promptTokens ?? 0) + request.max_tokens).toBeLessThanOrEqual(budget.contextLimit);
    });
  });

  it("has rows that are the whole request in order, also when read back from the stored document", async () => {
    await checking(choice, (report) => {
      expect(messagesOfBlocks(report.blocks)).toEqual(providerMessages(report.request));
      expect(sentRows(report.blocks).map(({ order }) => order)).toHaveLength(
        new Set(sentRows(report.blocks).map(({ order }) => order)).size,
      );
      const stored = JSON.parse(JSON.stringify(toAuditDocument(report))) as AuditDocument;
      const read = readAuditDocument(stored);
      expect(read.blocks).toEqual(report.blocks);
      expect(read.providerMessages).toEqual(providerMessages(report.request));
    });
  });

  it("sends every included message's text with its row", async () => {
    await checking(choice, ({ request, blocks }, _settings, conversation) => {
      const saidBy = new Map(conversation.messages.map(({ id, content }) => [`msg:${id}`, content]));
      for (const { id, content } of sentRows(blocks).filter(({ originalTokens }) => originalTokens === null)) {
        const wellFormed = (saidBy.get(id) ?? "").replace(/\p{Surrogate}/gu, "\u{FFFD}");
        if (wellFormed.trim() === "") continue;
        expect(content).toContain(isChatRequest(request) ? wellFormed : neutralise(wellFormed, chatml));
      }
    });
  });

  it("costs a block never less than it adds", async () => {
    await checking(choice, ({ blocks, budget }) => {
      const sum = blocks.filter(({ included }) => included).reduce((total, { tokens }) => total + (tokens ?? 0), 0);
      expect(sum).toBeGreaterThanOrEqual(budget.promptTokens ?? 0);
    });
  });

  it("loses no text: what every kind of block says stands in the request", async () => {
    const roles = { system: "system", character: "system", persona: "system", lorebook: "system" } as const;
    const blocks = BLOCK_SOURCES.filter((source) => source !== "overhead").map((source, index) =>
      aBlock(source, {
        source,
        role: roles[source as keyof typeof roles] ?? (index % 2 === 0 ? "user" : "assistant"),
        content: `Said by ${source} <|im_end|> ${"x".repeat(index)}.`,
        name: index % 3 === 0 ? "Anna" : null,
      }),
    );
    const { request, segments } = theWire(choice).write(blocks, 100);
    for (const { content } of blocks) {
      expect(textOf(request)).toContain(isChatRequest(request) ? content : neutralise(content, chatml));
    }
    expect(segments?.filter(({ blockId }) => blockId !== null).map(({ blockId }) => blockId) ?? null).toEqual(
      segments === null ? null : blocks.map(({ id }) => id),
    );
  });

  it("loses no call and no result", async () => {
    const args = '{"city":"Reykjavík"}';
    const conversation = aConversation([
      aMessage(1, { content: "Weather?" }),
      aMessage(2, { role: "assistant", content: "", toolCalls: [{ id: "call_7", name: "lookup", arguments: args }] }),
      aMessage(3, { role: "tool", content: "Rain at dusk.", toolCallId: "call_7" }),
    ]);
    const { request } = await buildPrompt(anInput(conversation, choice), signal);
    const text = textOf(request as ProviderRequest);
    for (const part of ["call_7", "lookup", JSON.stringify(args).slice(1, -1), "Rain at dusk."])
      expect(text).toContain(part);
  });

  it("takes what a plugin adds (a custom block that only some modes render is lost in the others)", async () => {
    const added: Block = { ...aBlock("note"), source: "plugin", role: "system", content: "A custom note." };
    const interceptor = { id: "p", priority: 0, intercept: (rows: readonly Block[]) => [...rows, added] };
    const input = { ...anInput(aConversation([aMessage(1)]), choice), interceptors: [interceptor] };
    const { request, blocks } = await buildPrompt(input, signal);
    expect(textOf(request as ProviderRequest)).toContain("A custom note.");
    expect(sentRows(blocks).find(({ source }) => source === "plugin")?.content).toContain("A custom note.");
  });

  it("gives equal prefixes one hash, whatever follows", async () => {
    const hash = async (content: string) => {
      const conversation = aConversation([aMessage(1, { content })]);
      return (await buildPrompt(anInput(conversation, choice), signal)).prefixHash;
    };
    expect(await hash("One.")).toBe(await hash("Another."));
  });
});
