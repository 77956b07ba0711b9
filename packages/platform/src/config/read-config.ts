import { readFileSync } from "node:fs";
import type { z } from "zod";
import { describeConfig, type ConfigField } from "./describe-config.ts";

/** Where settings come from: `process.env`, or several sources merged by the caller (flags over environment). */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigProblem {
  readonly variable: string;
  readonly problem: string;
  readonly fix: string;
}

/** Every wrong setting at once. The message holds no value of a setting, so it may be logged. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ variable, problem, fix }) => `  ${variable} ${problem}. ${fix}`);
    super(`${problems.length === 1 ? "a setting is" : `${problems.length} settings are`} wrong:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Reads the settings of `schema` from `env`. `NAME_FILE` names a file that holds the value of `NAME`, one newline at
 * its end ignored. An empty value counts as not set.
 * @throws ConfigError listing every wrong setting.
 */
export function readConfig<Schema extends z.ZodObject>(schema: Schema, env: Environment): z.infer<Schema> {
  const fields = describeConfig(schema);
  const problems: ConfigProblem[] = [];
  const values: Record<string, string> = {};
  for (const field of fields) {
    const read = readValue(field.name, env);
    if (typeof read === "string") values[field.name] = read;
    else if (read !== null) problems.push(read);
  }
  const parsed = schema.safeParse(values);
  const unread = new Set(problems.map(({ variable }) => variable));
  for (const issue of parsed.error?.issues ?? []) {
    const variable = String(issue.path[0] ?? "the settings");
    if (!unread.has(variable)) problems.push(problemOf(variable, issue.message, fields, variable in values));
  }
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  return parsed.data;
}

/** The value, `null` when it is not set, or why it cannot be read. */
function readValue(name: string, env: Environment): string | ConfigProblem | null {
  const value = env[name] || null;
  const fileVariable = `${name}_FILE`;
  const file = env[fileVariable] || null;
  if (file === null) return value;
  if (value !== null) return { variable: name, problem: `is set twice`, fix: `Unset ${name} or ${fileVariable}` };
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "") || null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "error";
    return { variable: name, problem: `cannot be read (${code})`, fix: `${fileVariable} has to name a readable file` };
  }
}

function problemOf(variable: string, message: string, fields: readonly ConfigField[], isSet: boolean): ConfigProblem {
  const field = fields.find(({ name }) => name === variable);
  if (field === undefined) return { variable, problem: `do not fit together: ${message}`, fix: "" };
  const about = [field.description, field.defaultValue === null ? "" : `default ${field.defaultValue}`];
  const meaning = about.filter((part) => part !== "").join("; ");
  return {
    variable,
    problem: isSet ? `is wrong: ${message}` : "is not set",
    fix: `Set ${variable} or ${variable}_FILE${meaning === "" ? "" : `: ${meaning}`}`,
  };
}
