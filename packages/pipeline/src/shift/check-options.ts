import { AssemblyInputError } from "../errors.ts";

/** The part of JSON Schema that options are described with. */
export interface OptionSchema {
  readonly type: "string" | "number" | "integer" | "boolean" | "object";
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
  readonly properties?: { readonly [option: string]: OptionSchema };
}

/** JSON Schema of a strategy's options. Options it does not name are not read. */
export interface ParamsSchema {
  readonly type: "object";
  readonly properties: { readonly [option: string]: OptionSchema };
}

/** Options that the host reads, whatever the strategy. */
const COMMON_PARAMS = {
  shorten: {
    type: "boolean",
    description: "Whether text may be shortened, visibly, before the budget counts as exceeded.",
    default: true,
  },
  lowWater: {
    type: "number",
    description: "Once over budget, history leaves until the total is this share of it, so that the cut moves rarely.",
    minimum: 0,
    maximum: 1,
  },
} as const satisfies ParamsSchema["properties"];

/** Checks options against a schema. Throws `AssemblyInputError` (`VALIDATION_FAILED`) with a pointer to the option. */
export function checkOptions(params: ParamsSchema, options: { readonly [key: string]: unknown }): void {
  checkObject({ ...COMMON_PARAMS, ...params.properties }, options, "/strategyOptions");
}

function checkObject(
  properties: ParamsSchema["properties"],
  options: { readonly [key: string]: unknown },
  pointer: string,
): void {
  for (const [option, schema] of Object.entries(properties)) {
    const value = Object.hasOwn(options, option) ? options[option] : undefined;
    if (value !== undefined) checkValue(schema, value, `${pointer}/${option}`);
  }
}

function checkValue(schema: OptionSchema, value: unknown, pointer: string): void {
  if (!fits(schema, value)) {
    const name = pointer.slice(1).replaceAll("/", ".");
    const wanted = describe(schema);
    throw new AssemblyInputError(
      "VALIDATION_FAILED",
      pointer,
      `${name} must be ${wanted}.`,
      `Give ${wanted}, or leave it out${schema.default === undefined ? "" : ` for ${JSON.stringify(schema.default)}`}.`,
    );
  }
  if (schema.properties !== undefined) checkObject(schema.properties, value as Record<string, unknown>, pointer);
}

function fits(schema: OptionSchema, value: unknown): boolean {
  switch (schema.type) {
    case "string":
      return typeof value === "string" && (schema.enum === undefined || schema.enum.includes(value));
    case "boolean":
      return typeof value === "boolean";
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value) && isWithin(schema, value as number);
    case "number":
      return typeof value === "number" && isWithin(schema, value);
  }
}

// NaN is within nothing.
function isWithin({ minimum = -Infinity, maximum = Infinity }: OptionSchema, value: number): boolean {
  return value >= minimum && value <= maximum;
}

function describe({ type, enum: choices, minimum, maximum }: OptionSchema): string {
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(" or ");
  const what = {
    string: "text",
    boolean: "true or false",
    object: "an object",
    integer: "a whole number",
    number: "a number",
  };
  const bounds = [minimum === undefined ? "" : ` from ${minimum}`, maximum === undefined ? "" : ` to ${maximum}`];
  return `${what[type]}${bounds.join("")}`;
}
