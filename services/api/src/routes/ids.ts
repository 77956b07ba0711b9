import { decodeId, type IdKind } from "@shiftwork/contracts";
import { notFound, type FindableKind } from "../errors.ts";
import type { Call } from "./endpoint.ts";

/** The uuid in a path parameter; anything that is no id of this kind is as missing as an unknown one. */
export function pathId(call: Pick<Call, "params">, kind: FindableKind & IdKind): string {
  const uuid = decodeId(kind, call.params[`${kind}Id`] ?? "");
  if (uuid === null) throw notFound(kind);
  return uuid;
}

/** The uuid of an id that a schema has checked; `null` and absent stay `null`. */
export function uuidOf(kind: IdKind, id: string): string;
export function uuidOf(kind: IdKind, id: string | null | undefined): string | null;
export function uuidOf(kind: IdKind, id: string | null | undefined): string | null {
  return id === null || id === undefined ? null : decodeId(kind, id);
}
