import type { Interceptor, Strategy } from "@shiftwork/pipeline";

/** What a plugin module exports as its default. */
export interface PluginModule {
  readonly strategies?: readonly Strategy[];
  readonly interceptors?: readonly Interceptor[];
}

/** Why a default export is no plugin, as the end of a sentence; `null` = it is one. */
export function faultOfPlugin(exported: unknown): string | null {
  if (!isRecord(exported)) return "has no object as its default export";
  const unknown = Object.keys(exported).find((key) => key !== "strategies" && key !== "interceptors");
  if (unknown !== undefined) return `exports "${unknown}"; a plugin exports strategies and interceptors`;
  return (
    faultOfList(exported["strategies"], "strategies", faultOfStrategy) ??
    faultOfList(exported["interceptors"], "interceptors", faultOfInterceptor)
  );
}

function faultOfList(
  list: unknown,
  name: string,
  faultOf: (entry: Record<string, unknown>) => string | null,
): string | null {
  if (list === undefined) return null;
  if (!Array.isArray(list)) return `exports ${name} that are no list`;
  for (const [index, entry] of list.entries()) {
    const fault = isRecord(entry) ? (faultOfId(entry) ?? faultOf(entry)) : "is no object";
    if (fault !== null) return `exports ${name}, of which number ${index + 1} ${fault}`;
  }
  return null;
}

function faultOfId({ id }: Record<string, unknown>): string | null {
  return typeof id === "string" && id.trim() !== "" ? null : "has no id";
}

function faultOfStrategy({ id, shift, params, priority }: Record<string, unknown>): string | null {
  if (typeof shift !== "function") return `("${String(id)}") has no function shift`;
  if (priority !== undefined && !Number.isFinite(priority)) return `("${String(id)}") has a priority that is no number`;
  const described = isRecord(params) && params["type"] === "object" && isRecord(params["properties"]);
  return described ? null : `("${String(id)}") has no params: a JSON Schema of type object with properties`;
}

function faultOfInterceptor({ id, intercept, priority }: Record<string, unknown>): string | null {
  if (typeof intercept !== "function") return `("${String(id)}") has no function intercept`;
  return Number.isFinite(priority) ? null : `("${String(id)}") has no number as its priority`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
