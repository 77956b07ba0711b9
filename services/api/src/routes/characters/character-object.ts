import { encodeId, type CharacterObject } from "@shiftwork/contracts";
import type { CharacterRow } from "@shiftwork/db";

export function characterObject({ id, data, createdAt, updatedAt }: CharacterRow): CharacterObject {
  return {
    id: encodeId("character", id),
    object: "character",
    name: data.name,
    nickname: data.nickname,
    description: data.description,
    personality: data.personality,
    scenario: data.scenario,
    firstMessage: data.firstMessage,
    alternateGreetings: [...data.alternateGreetings],
    messageExamples: data.messageExamples,
    systemPrompt: data.systemPrompt,
    postHistoryInstructions: data.postHistoryInstructions,
    creatorNotes: data.creatorNotes,
    tags: [...data.tags],
    creator: data.creator,
    characterVersion: data.characterVersion,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
