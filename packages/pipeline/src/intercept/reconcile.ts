import { ROLES, type Block } from "../block.ts";
import type { Diagnostic } from "../reasons.ts";
import { groupBlocks } from "../shift/group.ts";
import { protectedIds } from "../shift/protection.ts";

/** A plugin's answer after the host took back what is its own. */
export interface Reconciled {
  readonly blocks: readonly Block[];
  readonly removed: readonly Block[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Whether a plugin answered with something that can be read as blocks: texts and known roles. */
export function isBlockList(value: unknown): value is readonly Block[] {
  return Array.isArray(value) && value.every(isReadable);
}

function isReadable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, content, role } = value as Partial<Block>;
  return (
    (id === undefined || typeof id === "string") && typeof content === "string" && ROLES.some((known) => known === role)
  );
}

/**
 * Takes from a plugin's answer what it may change: the text of unprotected blocks, their removal (by whole groups), and
 * additions, which become unprotected blocks of source `plugin` behind the host block they follow. Everything else
 * about host blocks, their order included, stays the host's; each intervention is a diagnostic.
 */
export function reconcile(plugin: string, before: readonly Block[], answer: readonly Block[]): Reconciled {
  const locked = protectedIds(before);
  const returned = firstById(answer);
  const removedIds = removals(before, returned, locked);
  const additions = additionsBehind(plugin, before, answer);
  const blocks: Block[] = [...(additions.get(null) ?? [])];
  const touched = { plugin_edited: [] as string[], host_restored: [] as string[] };
  for (const block of before) {
    const answered = returned.get(block.id);
    if (!removedIds.has(block.id)) {
      const content = locked.has(block.id) ? block.content : (answered?.content ?? block.content);
      if (content !== block.content) touched.plugin_edited.push(block.id);
      if (answered === undefined || changes({ ...block, content }, answered)) touched.host_restored.push(block.id);
      blocks.push(content === block.content ? block : { ...block, content });
    }
    blocks.push(...(additions.get(block.id) ?? []));
  }
  const added = [...additions.values()].flat().map((block) => block.id);
  const diagnostics = [
    note("plugin_edited", plugin, touched.plugin_edited),
    note("plugin_removed", plugin, [...removedIds]),
    note("plugin_added", plugin, added),
    note("host_restored", plugin, touched.host_restored),
  ].flat();
  return { blocks, removed: before.filter((block) => removedIds.has(block.id)), diagnostics };
}

function note(code: Diagnostic["code"], plugin: string, blockIds: readonly string[]): readonly Diagnostic[] {
  return blockIds.length === 0 ? [] : [{ code, stage: "intercept", detail: { plugin, blockIds } }];
}

function firstById(answer: readonly Block[]): ReadonlyMap<string, Block> {
  const found = new Map<string, Block>();
  for (const block of answer) if (block.id !== undefined && !found.has(block.id)) found.set(block.id, block);
  return found;
}

/** Ids of the groups a plugin took away: absent or blanked, and nothing of them protected. */
function removals(
  before: readonly Block[],
  returned: ReadonlyMap<string, Block>,
  locked: ReadonlySet<string>,
): ReadonlySet<string> {
  const gone = (block: Block): boolean => {
    const answered = returned.get(block.id);
    return answered === undefined || isBlankText(answered, block);
  };
  const groups = groupBlocks(before).filter(({ members }) => members.some(gone) && !locked.has(members[0].id));
  return new Set(groups.flatMap((group) => group.members.map((block) => block.id)));
}

function isBlankText(answered: Block, block: Block): boolean {
  const mayBeBlank = block.role === "tool" || block.toolCalls.length > 0;
  return answered.content.trim() === "" && !mayBeBlank;
}

function changes(block: Block, answered: Block): boolean {
  const fields = ["content", "source", "role", "name", "pinned", "required", "toolCallId", "refId"] as const;
  const calls = JSON.stringify(answered.toolCalls) !== JSON.stringify(block.toolCalls);
  return calls || fields.some((field) => answered[field] !== block[field]);
}

/** Blocks the host does not know, by the host block they stand behind (`null` = at the head). */
function additionsBehind(
  plugin: string,
  before: readonly Block[],
  answer: readonly Block[],
): ReadonlyMap<string | null, readonly Block[]> {
  const known = new Set(before.map((block) => block.id));
  const additions = new Map<string | null, Block[]>();
  let behind: string | null = null;
  let number = before.filter((block) => block.source === "plugin").length;
  for (const block of answer) {
    if (block.id !== undefined && known.has(block.id)) {
      behind = block.id;
      continue;
    }
    if (block.content.trim() === "") continue;
    additions.set(behind, [...(additions.get(behind) ?? []), toAddition(`plugin:${plugin}:${number}`, plugin, block)]);
    number += 1;
  }
  return additions;
}

function toAddition(id: string, plugin: string, block: Block): Block {
  return {
    id,
    source: "plugin",
    role: block.role === "tool" ? "system" : block.role,
    content: block.content,
    name: typeof block.name === "string" ? block.name : null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: false,
    relevance: typeof block.relevance === "number" ? Math.min(1, Math.max(0, block.relevance)) : null,
    refId: null,
    label: plugin,
    seq: null,
    groupId: null,
    stage: "intercept",
    reason: "plugin_added",
    reasonDetail: { plugin },
  };
}
