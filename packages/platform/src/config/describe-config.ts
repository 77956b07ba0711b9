import { z } from "zod";

/** One setting, as the documentation table, `.env.example` and error messages show it. */
export interface ConfigField {
  /** Environment variable. */
  readonly name: string;
  /** The schema's `.describe()` text; empty when it has none. */
  readonly description: string;
  /** Default value in the form it would be set; `null` when there is none. */
  readonly defaultValue: string | null;
  /** Whether the start fails without it. */
  readonly required: boolean;
  /** Masked wherever it is printed: by its name, or by `.meta({ secret: true })`. */
  readonly secret: boolean;
}

const SECRET_NAME = /(^|_)(KEY|KEYS|SECRET|PASSWORD|PASSPHRASE|TOKEN|PEPPER)$/;

/** The settings of a config schema, in order. */
export function describeConfig(schema: z.ZodObject): readonly ConfigField[] {
  return Object.entries(schema.shape).map(([name, field]) => describeField(name, field));
}

/** The settings as a file to copy and fill in: one commented line of text each, optional ones commented out. */
export function envExample(schema: z.ZodObject): string {
  const lines = describeConfig(schema).map(({ name, description, defaultValue, required }) => {
    const about = description === "" ? "" : `# ${description}\n`;
    return `${about}${required ? "" : "# "}${name}=${defaultValue ?? ""}\n`;
  });
  return lines.join("\n");
}

function describeField(name: string, outermost: z.core.$ZodType): ConfigField {
  let description = "";
  let defaultValue: string | null = null;
  let secret = SECRET_NAME.test(name);
  // `.default()`, `.optional()` and `.describe()` may come in any order: look through the wrappers.
  for (let field: z.core.$ZodType | null = outermost; field !== null; field = inner(field)) {
    const meta = z.globalRegistry.get(field);
    if (description === "") description = meta?.description ?? "";
    if (meta?.["secret"] === true) secret = true;
    if (field instanceof z.ZodDefault) defaultValue ??= String(field.def.defaultValue);
  }
  const required = !z.safeParse(outermost, undefined).success;
  return { name, description, defaultValue, required, secret };
}

function inner(field: z.core.$ZodType): z.core.$ZodType | null {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional || field instanceof z.ZodNullable) {
    return field.def.innerType;
  }
  if (field instanceof z.ZodPipe) return field.def.in;
  return null;
}
