import {
  BranchObject,
  BulkActionObject,
  CharacterObject,
  ChatContextAudit,
  ChatObject,
  ContextPreview,
  ContextStrategyObject,
  DeadLetterObject,
  ErrorGroupObject,
  GenerationObject,
  GenerationStreamEvent,
  HealthObject,
  ImportObject,
  LorebookObject,
  LoreEntryObject,
  MemoryObject,
  MessageObject,
  PersonaObject,
  ProblemDetails,
  PromptContextAudit,
  QueueStats,
  SettingsObject,
  TenantSettingsObject,
  WorkerObject,
} from "@shiftwork/contracts";
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";

/** Answers that the document names once and refers to, so that a generated client has one type for each. */
const NAMED = {
  BranchObject,
  BulkActionObject,
  CharacterObject,
  ChatContextAudit,
  ChatObject,
  ContextPreview,
  ContextStrategyObject,
  DeadLetterObject,
  ErrorGroupObject,
  GenerationObject,
  GenerationStreamEvent,
  HealthObject,
  ImportObject,
  LorebookObject,
  LoreEntryObject,
  MemoryObject,
  MessageObject,
  PersonaObject,
  ProblemDetails,
  PromptContextAudit,
  QueueStats,
  SettingsObject,
  TenantSettingsObject,
  WorkerObject,
} as const;

// The global registry holds what `.describe()` says; a registry of its own would lose that.
for (const [id, schema] of Object.entries<z.ZodType>(NAMED)) z.globalRegistry.add(schema, { ...schema.meta(), id });

interface Document {
  readonly paths?: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components?: { readonly schemas?: { [name: string]: unknown } };
}

interface Operation {
  readonly requestBody?: { required?: boolean; readonly content?: { readonly [type: string]: { schema?: object } } };
}

type Transforms = Required<Pick<FastifyDynamicSwaggerOptions, "transform" | "transformObject">>;

/** Describes one route; see {@link NAMED}. */
export const describeRoute: Transforms["transform"] = jsonSchemaTransform;

/** Adds the named schemas, and says which bodies may be left out. */
export const describeDocument: Transforms["transformObject"] = (documentObject) => {
  const described = jsonSchemaTransformObject(documentObject);
  const { paths = {}, components } = described as Document;
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) allowAbsentBody(operation);
  dropRequestVariants(components?.schemas ?? {});
  return described;
};

/** The generator calls every body required; one whose schema has a default may be absent. */
function allowAbsentBody({ requestBody }: Operation): void {
  const contents = Object.values(requestBody?.content ?? {});
  if (requestBody && contents.some(({ schema = {} }) => "default" in schema)) requestBody.required = false;
}

/** The generator also makes a variant of each name for requests, which nothing refers to. */
function dropRequestVariants(schemas: { [name: string]: unknown }): void {
  for (const name of Object.keys(schemas)) if (!(name in NAMED)) delete schemas[name];
}
