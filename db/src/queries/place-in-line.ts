/** A generation and the one it waits for. */
export interface Waiting {
  readonly id: string;
  readonly blockedBy: string | null;
}

/**
 * Orders them so that each stands before the one it waits for, those of all lines from the end. By the line, not by the
 * ids: those are given out by the clocks of several machines. Lines may be long: each member is looked at once.
 */
export function lastInLineFirst<Row extends Waiting>(rows: readonly Row[]): readonly Row[] {
  const places = placesOf(rows);
  const placeOf = ({ id }: Row): number => places.get(id) ?? 0;
  return rows.toSorted((left, right) => placeOf(right) - placeOf(left));
}

/** How many of them stand before each. */
function placesOf(rows: readonly Waiting[]): ReadonlyMap<string, number> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const places = new Map<string, number>();
  for (const row of rows) {
    const unplaced: string[] = [];
    let ahead: Waiting | undefined = row;
    while (ahead !== undefined && !places.has(ahead.id)) {
      unplaced.push(ahead.id);
      ahead = byId.get(ahead.blockedBy ?? "");
    }
    let place = ahead === undefined ? 0 : 1 + (places.get(ahead.id) ?? 0);
    for (const id of unplaced.toReversed()) places.set(id, place++);
  }
  return places;
}
