import { encodeId, type ChatObject, type ChatSettingsObject } from "@shiftwork/contracts";
import type { ChatRow, ChatSettings } from "@shiftwork/db";

export function chatObject(row: ChatRow): ChatObject {
  return {
    id: encodeId("chat", row.id),
    object: "chat",
    title: row.title,
    characterId: row.characterId === null ? null : encodeId("character", row.characterId),
    personaId: row.personaId === null ? null : encodeId("persona", row.personaId),
    ownerId: row.ownerId,
    revision: row.revision,
    activeBranch: row.activeBranch,
    settings: chosenSettings(row.settings),
    metadata: row.metadata as ChatObject["metadata"],
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function chosenSettings({ providerId, ...settings }: ChatSettings): ChatSettingsObject {
  return { ...settings, ...(providerId === undefined ? {} : { providerId: encodeId("provider", providerId) }) };
}
