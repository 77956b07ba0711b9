import {
  budgetProblem,
  encodeId,
  type AuditBlockObject,
  type ContextPreview,
  type CreateContextPreview,
} from "@shiftwork/contracts";
import { providerMessages } from "@shiftwork/pipeline";
import { withoutText } from "../context/audit-object.ts";
import { publicBlock, publicDetail, publicProblem, publicStep } from "../context/public-refs.ts";
import type { PreviewedTurn } from "./preview-turn.ts";

/** What a preview answers. Texts only as far as `include` asks for them. */
export function previewObject(
  { chat, turn, report }: PreviewedTurn,
  include: CreateContextPreview["include"],
): ContextPreview {
  const blocks = report.blocks.map(publicBlock) as AuditBlockObject[];
  const shown = include.includes("content") ? blocks : blocks.map(withoutText);
  return {
    object: "context_preview",
    fits: report.error === null,
    provider: { id: encodeId("provider", turn.provider.id), kind: turn.provider.kind },
    model: turn.model,
    strategy: report.strategy,
    wire: report.wire,
    tokenizer: report.tokenizer,
    budget: report.budget,
    counts: report.counts,
    blocks: shown,
    ranges: [...report.ranges],
    ...(include.includes("providerMessages")
      ? { providerMessages: providerMessages(report.request).map((message) => ({ ...message })) }
      : {}),
    shiftSteps: report.shiftSteps.map(publicStep) as ContextPreview["shiftSteps"],
    diagnostics: report.diagnostics.map((entry) => ({ ...entry, detail: publicDetail(entry.detail) })),
    stages: [...report.stages],
    assembly: {
      hash: report.assemblyHash,
      seed: turn.seed,
      now: turn.request.now,
      chatRevision: chat.revision,
    },
    exact: true,
    ...(report.error === null ? {} : { error: publicProblem(budgetProblem(report.error)) }),
  };
}
