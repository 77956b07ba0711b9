import type { ToolCall } from "@shiftwork/pipeline";
import { isAbsent, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import type { ImportedMessage } from "./imported-message.ts";

const PATH = "/extra/tool_invocations";

/** The tool invocations a row records; empty for every other row. */
export function toolInvocations(message: JsonRecord, warnings: WarningCollector): readonly JsonRecord[] {
  const extra = ownValue(message, "extra");
  const listed = isRecord(extra) ? ownValue(extra, "tool_invocations") : undefined;
  if (isAbsent(listed)) return [];
  const items: readonly unknown[] = Array.isArray(listed) ? listed : [listed];
  const invocations = items.filter(isRecord);
  if (invocations.length < items.length) {
    warnings.add("value_dropped", "Tool invocations that are no objects are ignored.", { path: PATH });
  }
  return invocations;
}

/**
 * The message that made the calls, then one result per call, in order. The row's own text is a display of the calls and
 * stays in the source; the row is not hidden, though its file marks it so.
 */
export function toolRows(
  row: ImportedMessage,
  invocations: readonly JsonRecord[],
  warnings: WarningCollector,
): readonly ImportedMessage[] {
  const calls = nameCalls(row.line, invocations, warnings);
  const call: ImportedMessage = {
    ...row,
    role: "assistant",
    hidden: false,
    optional: false,
    toolCalls: calls,
    ...onlyText(""),
  };
  const results = invocations.map((invocation, index): ImportedMessage => {
    const path = pointer(pointer(PATH, index), "result");
    return {
      ...call,
      role: "tool",
      name: calls[index]?.name ?? null,
      toolCalls: [],
      toolCallId: calls[index]?.id ?? null,
      ...onlyText(resultText(ownValue(invocation, "result"), path, warnings)),
      source: invocation,
    };
  });
  return [call, ...results];
}

function onlyText(content: string): Pick<ImportedMessage, "content" | "variants" | "activeVariant"> {
  return { content, variants: [content], activeVariant: 0 };
}

/** Calls are paired with their results by id, so an id that is missing or used twice in the row is made anew. */
function nameCalls(line: number, invocations: readonly JsonRecord[], warnings: WarningCollector): readonly ToolCall[] {
  const taken = new Set<string>();
  return invocations.map((invocation, index) => {
    const path = pointer(PATH, index);
    const own = ownValue(invocation, "id");
    const usable = typeof own === "string" && own !== "" && !taken.has(own);
    const id = usable ? own : `call_line${line}_${index}`;
    if (!usable) warnings.add("value_coerced", "The call has no id of its own; it was given one.", { path });
    taken.add(id);
    return { id, name: callName(invocation, path, warnings), arguments: jsonText(ownValue(invocation, "parameters")) };
  });
}

function callName(invocation: JsonRecord, path: string, warnings: WarningCollector): string {
  const name = ownValue(invocation, "name");
  if (typeof name === "string" && name !== "") return name;
  warnings.add("value_coerced", "The call names no tool; it is called unknown_tool.", { path });
  return "unknown_tool";
}

function jsonText(parameters: unknown): string {
  if (typeof parameters === "string" && parameters !== "") return parameters;
  return isAbsent(parameters) || parameters === "" ? "{}" : JSON.stringify(parameters);
}

function resultText(result: unknown, path: string, warnings: WarningCollector): string {
  if (typeof result === "string") return result;
  if (!isAbsent(result)) return JSON.stringify(result);
  warnings.add("value_coerced", "The call has no result; it was given an empty one.", { path });
  return "";
}
