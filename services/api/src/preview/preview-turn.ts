import type { CreateContextPreview } from "@shiftwork/contracts";
import { loadAssemblyInput, withTenant, type ChatRow, type Db, type StoredInput, type Tx } from "@shiftwork/db";
import { buildPrompt, historyWindow, type AssemblyReport } from "@shiftwork/pipeline";
import { performance } from "node:perf_hooks";
import type { Caller } from "../auth/caller.ts";
import { notFound } from "../errors.ts";
import { resolveTurn, type ResolvedTurn } from "../generations/resolve-turn.ts";
import { visibleChat } from "../routes/visible.ts";

export interface PreviewedTurn {
  readonly chat: ChatRow;
  readonly turn: ResolvedTurn;
  readonly report: AssemblyReport;
}

/**
 * Assembles a turn exactly as its generation would, by the same loader and the same stages, and writes nothing. Aborts
 * with the signal.
 */
export async function previewTurn(
  db: Db,
  caller: Caller,
  chatId: string,
  body: CreateContextPreview,
  signal: AbortSignal,
): Promise<PreviewedTurn> {
  const { chat, turn, stored } = await withTenant(db, caller.tenantId, (tx) => load(tx, caller, chatId, body));
  const { settings } = turn;
  const report = await buildPrompt({ ...stored, settings, interceptors: [], clock: performance }, signal);
  return { chat, turn, report };
}

async function load(
  tx: Tx,
  caller: Caller,
  chatId: string,
  body: CreateContextPreview,
): Promise<Omit<PreviewedTurn, "report"> & { readonly stored: StoredInput }> {
  const chat = await visibleChat(tx, caller, chatId);
  const turn = await resolveTurn(tx, caller, chat, body, new Date());
  const stored = await loadAssemblyInput(tx, caller.tenantId, {
    chatId: chat.id,
    inputMessageId: turn.inputMessageId,
    draft: turn.draft,
    personaId: turn.request.personaId,
    lorebookIds: turn.request.lorebookIds,
    window: historyWindow([turn.settings]),
  });
  if (!stored) throw notFound("chat");
  return { chat, turn, stored };
}
