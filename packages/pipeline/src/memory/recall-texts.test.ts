import { expect, test } from "vitest";
import { aConversation, aLorebook, aLoreEntry, aMessage } from "../testing/conversation.ts";
import { recallTexts } from "./recall-texts.ts";

const memory = (id: string, content: string) => ({
  id,
  content,
  pinned: false,
  sourceMessageId: null,
  createdAt: "2026-01-01T00:00:00Z",
});
const turn = [
  aMessage(1, { content: "Hello" }),
  aMessage(2, { content: "Yes?" }),
  aMessage(3, { content: "Where  is\nit?" }),
];
const memories = [
  memory("a", " The key hangs\nby the door. "),
  memory("b", "The key hangs by the door."),
  memory("c", " "),
];
const lorebooks = [
  aLorebook([
    aLoreEntry("on", { content: "@@activate\n{{char}} keeps the light." }),
    aLoreEntry("off", { content: "Nobody sees this.", enabled: false }),
  ]),
];

test("names every text once, as its vector is kept, and what either side said last", () => {
  expect(recallTexts(aConversation(turn, { memories }), { action: "reply", contextStrategy: "truncate" })).toEqual({
    question: ["Where is it?", "Yes?"],
    texts: ["The key hangs by the door."],
  });
});

test("names lore as it would be sent, where the strategy ranks it", () => {
  const textsUnder = (contextStrategy: string) =>
    recallTexts(aConversation(turn, { lorebooks }), { action: "reply", contextStrategy }).texts;
  expect(textsUnder("vector-recall")).toEqual(["Assistant keeps the light."]);
  expect(textsUnder("truncate")).toEqual([]);
});

test("a conversation with nothing to recall asks nothing", () => {
  const { question } = recallTexts(aConversation(turn), { action: "reply", contextStrategy: "vector-recall" });
  expect(question).toEqual([]);
});

test("an entry whose macros outgrow every bound is passed over", () => {
  const character = null;
  const persona = { id: "p", name: "x".repeat(10_000), description: "" };
  const books = [
    aLorebook([aLoreEntry("huge", { content: "{{user}}".repeat(200) }), aLoreEntry("on", { content: "Fine." })]),
  ];
  const conversation = aConversation(turn, { character, persona, lorebooks: books });
  expect(recallTexts(conversation, { action: "reply", contextStrategy: "vector-recall" }).texts).toEqual(["Fine."]);
});
