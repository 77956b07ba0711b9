import { decodeId, type PatchTenantSettings } from "@shiftwork/contracts";
import { findProvider, type ChatSettings, type TenantSettings, type Tx } from "@shiftwork/db";
import { resolveStrategy, type ContextStrategyRegistry } from "@shiftwork/pipeline";
import { fieldProblem, notFound } from "../errors.ts";
import { uuidOf } from "../routes/ids.ts";

/** Where a change of settings happens. */
export interface SettingsPlace {
  readonly tenantId: string;
  readonly strategies: ContextStrategyRegistry;
  /** The levels below the changed one, nearest first: where its options do not name their strategy, these do. */
  readonly below: readonly ChatSettings[];
}

/**
 * The level with the change in it, checked: its provider exists, its strategy is known and takes its options. Throws the
 * problem that names the field. `null` takes a choice back.
 */
export async function changeSettings<Level extends TenantSettings>(
  tx: Tx,
  { tenantId, strategies, below }: SettingsPlace,
  level: Level,
  change: PatchTenantSettings,
): Promise<Level> {
  const providerId = uuidOf("provider", change.providerId);
  const given = { ...change, ...(change.providerId === undefined ? {} : { providerId }) };
  const merged = { ...level, ...withoutUndefined(given) };
  const next = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)) as Level;
  await requireProvider(tx, tenantId, providerId);
  await requireEmbedder(tx, tenantId, change.recall);
  if (change.contextStrategy !== undefined || change.strategyOptions !== undefined) {
    const named = [next, ...below].find((each) => each.contextStrategy !== undefined)?.contextStrategy;
    resolveStrategy(named ?? "truncate", next.strategyOptions ?? {}, strategies);
    await requireSummarizer(tx, tenantId, next.strategyOptions ?? {});
  }
  return next;
}

/** The provider that is to write summaries must be one of the tenant's. */
async function requireSummarizer(
  tx: Tx,
  tenantId: string,
  options: { readonly [option: string]: unknown },
): Promise<void> {
  const summarizer = options["summarizer"];
  if (typeof summarizer !== "object" || summarizer === null || !("providerId" in summarizer)) return;
  const id = typeof summarizer.providerId === "string" ? decodeId("provider", summarizer.providerId) : null;
  if (id === null) {
    const pointer = "/strategyOptions/summarizer/providerId";
    throw fieldProblem("VALIDATION_FAILED", pointer, "It must be a provider's id.", "Give an id like prov_….");
  }
  await requireProvider(tx, tenantId, id);
}

/** The provider that is asked for vectors must be one of the tenant's, and of a kind that has any. */
async function requireEmbedder(tx: Tx, tenantId: string, recall: PatchTenantSettings["recall"]): Promise<void> {
  if (recall?.provider !== "openai-compatible") return;
  const provider = await findProvider(tx, tenantId, decodeId("provider", recall.providerId) ?? "");
  if (!provider) throw notFound("provider");
  if (provider.kind.startsWith("openai-compatible")) return;
  const text = `A provider of kind ${provider.kind} has no embeddings.`;
  throw fieldProblem("VALIDATION_FAILED", "/recall/providerId", text, "Name one of kind openai-compatible.");
}

async function requireProvider(tx: Tx, tenantId: string, id: string | null): Promise<void> {
  if (id !== null && !(await findProvider(tx, tenantId, id))) throw notFound("provider");
}

function withoutUndefined<Value extends object>(value: Value): Partial<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<Value>;
}
