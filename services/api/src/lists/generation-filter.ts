import { type GenerationFilter } from "@shiftwork/contracts";
import type { GenerationFilter as StoredFilter } from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import { uuidOf } from "../routes/ids.ts";

/** A filter as the database takes it; an end user's is bound to what is theirs. */
export function storedFilter({ ownerId }: Pick<Caller, "ownerId">, filter: GenerationFilter): StoredFilter {
  const { status, "status!": notStatus, chatId, providerId, since, until, q, meta, ...same } = filter;
  return withoutAbsent({
    ...same,
    status,
    notStatus,
    chatId: uuidOf("chat", chatId) ?? undefined,
    providerId: uuidOf("provider", providerId) ?? undefined,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
    idRange: q === undefined ? undefined : idRange(q),
    labels: meta,
    ownerId: ownerId ?? undefined,
  });
}

/** The first and the last uuid whose public id begins like this. */
function idRange(prefix: string): readonly [string, string] {
  const digits = prefix.slice(prefix.indexOf("_") + 1);
  return [dashed(digits.padEnd(32, "0")), dashed(digits.padEnd(32, "f"))];
}

function dashed(digits: string): string {
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    "-",
  );
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function withoutAbsent<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
