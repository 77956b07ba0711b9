import { isObject, objectAt, textAt, type JsonObject } from "./json-fields.ts";
import type { StreamPart } from "./provider.ts";
import { createWholeText, wellFormed, type WholeText } from "./whole-text.ts";

type ToolCallPart = Extract<StreamPart, { type: "tool_call" }>;
interface KnownCall {
  readonly id: string;
  name: string;
  readonly arguments: WholeText;
}

export interface ToolCallReader {
  /** Reads one entry of `delta.tool_calls`. */
  accept(entry: unknown): ToolCallPart | null;
  /** Calls seen so far. */
  count(): number;
}

/** Numbers the calls of one reply; servers leave out indices, reuse index 0 for every call, or send no ids. */
export function createToolCallReader(): ToolCallReader {
  const calls: KnownCall[] = [];
  const positionOf = new Map<number, number>();

  function locate(entry: JsonObject, name: string): number {
    const id = wellFormed(textAt(entry, "id"));
    const given = entry["index"];
    const slot = typeof given === "number" ? positionOf.get(given) : calls.length - 1;
    const known = slot === undefined ? undefined : calls[slot];
    if (slot !== undefined && known !== undefined && !startsAnother(known, id, name, given)) return slot;
    calls.push({ id: id === "" ? `call_${calls.length}` : id, name, arguments: createWholeText() });
    if (typeof given === "number") positionOf.set(given, calls.length - 1);
    return calls.length - 1;
  }

  return {
    accept(entry) {
      if (!isObject(entry)) return null;
      const called = objectAt(entry, "function");
      const name = wellFormed(textAt(called, "name"));
      const index = locate(entry, name);
      const call = calls[index];
      if (call === undefined) return null;
      if (call.name === "") call.name = name;
      const argumentsDelta = call.arguments.push(argumentsText(called));
      return { type: "tool_call", index, id: call.id, name: call.name, argumentsDelta };
    },
    count: () => calls.length,
  };
}

function startsAnother(known: KnownCall, id: string, name: string, given: unknown): boolean {
  if (name === "") return false;
  if (id !== "") return id !== known.id;
  return typeof given !== "number";
}

/** Arguments are JSON text, but some local servers send the object itself. */
function argumentsText(called: JsonObject | null): string {
  const value = called?.["arguments"];
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}
