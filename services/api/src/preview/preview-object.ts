import {
  budgetProblem,
  encodeId,
  type AuditBlockObject,
  type ContextPreview,
  type CreateContextPreview,
} from "@shiftwork/contracts";
import { providerMessages, type AssemblyReport } from "@shiftwork/pipeline";
import { withoutStopStrings, withoutText } from "../context/audit-object.ts";
import { publicBlock, publicDetail, publicProblem, publicStep } from "../context/public-refs.ts";
import type { PreviewedTurn } from "./preview-turn.ts";

/** Listed at most, as in a stored audit; `omitted` says how many more there were. */
const MOST_STEPS = 500;
const MOST_DIAGNOSTICS = 200;

type Shifted = Omit<ContextPreview["shifts"][number], "contextStrategy" | "assembly">;

/** What a preview answers. Texts only as far as `include` asks for them. */
export function previewObject(
  { place, turn, report, whatIfs }: PreviewedTurn,
  include: CreateContextPreview["include"],
): ContextPreview {
  const showText = include.includes("content");
  return {
    object: "context_preview",
    ...shiftedObject(report, showText),
    provider: { id: encodeId("provider", turn.provider.id), kind: turn.provider.kind },
    model: turn.model,
    wire: report.wire,
    tokenizer: report.tokenizer,
    ...(include.includes("providerMessages")
      ? { providerMessages: providerMessages(report.request).map((message) => ({ ...message })) }
      : {}),
    stages: [...report.stages],
    assembly: {
      hash: report.assemblyHash,
      seed: turn.seed,
      now: turn.request.now,
      chatRevision: place.revision,
      calibration: turn.request.counting.calibration,
    },
    shifts: whatIfs.map((whatIf) => whatIfObject(report, whatIf, showText)),
  };
}

function whatIfObject(
  report: AssemblyReport,
  whatIf: AssemblyReport,
  showText: boolean,
): ContextPreview["shifts"][number] {
  const exact = whatIf.exact && !capsMayDiffer(report, whatIf);
  return {
    contextStrategy: whatIf.strategy,
    ...shiftedObject(whatIf, showText),
    exact,
    assembly: { hash: exact ? whatIf.assemblyHash : null },
  };
}

/** Shares of lore and memories follow the budget, and a what-if keeps those that were assembled. */
function capsMayDiffer(report: AssemblyReport, whatIf: AssemblyReport): boolean {
  if (report.budget.budgetTokens === whatIf.budget.budgetTokens) return false;
  return report.blocks.some(({ source }) => source === "lorebook" || source === "memory");
}

function shiftedObject(report: AssemblyReport, showText: boolean): Shifted {
  const blocks = report.blocks.map(publicBlock) as AuditBlockObject[];
  const shiftSteps = report.shiftSteps.slice(-MOST_STEPS);
  const diagnostics = report.diagnostics.slice(0, MOST_DIAGNOSTICS);
  return {
    fits: report.error === null,
    strategy: report.strategy,
    budget: report.budget,
    counts: report.counts,
    blocks: showText ? blocks : blocks.map(withoutText),
    ranges: [...report.ranges],
    shiftSteps: shiftSteps.map(publicStep) as Shifted["shiftSteps"],
    diagnostics: diagnostics
      .map((entry) => ({ ...entry, detail: publicDetail(entry.detail) }))
      .map((entry) => (showText ? entry : withoutStopStrings(entry))),
    omitted: {
      shiftSteps: report.shiftSteps.length - shiftSteps.length,
      diagnostics: report.diagnostics.length - diagnostics.length,
    },
    exact: report.exact,
    ...(report.error === null ? {} : { error: publicProblem(budgetProblem(report.error)) }),
  };
}
