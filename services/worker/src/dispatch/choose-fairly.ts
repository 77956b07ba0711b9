import type { DispatchLimits } from "@shiftwork/db";

/**
 * In jobs. The smallest bound with which shares do not drift over long runs: rounding to whole jobs costs up to two, in
 * simulations with up to ten tenants of weights 1 to 100 in windows of 1 to 30.
 */
const MOST_OWED = 2;

/** A tenant whose line is taken to be longer than what can be handed out: who runs dry is left out of the next choice. */
export interface Contender extends DispatchLimits {
  /** Dispatched or running. */
  readonly inFlight: number;
  /** Jobs it should have been given by its weight, less those it was given; −2 to 2. */
  readonly owed: number;
}

/** One place in the window. */
export interface Choice {
  readonly tenantId: string;
  /** The lower, the sooner it should start, in whichever pass it was chosen. */
  readonly rank: number;
}

interface Place extends Choice {
  readonly contender: Contender;
  /** 1 = the tenant's first in this choice. */
  readonly position: number;
  readonly overShare: boolean;
}

/**
 * Who gets the next `room` places, in order: the lowest rank first, which is (in flight + position in this choice − owed) /
 * weight. So a tenant with little in flight comes before one with much, and each tends to slots in proportion to its
 * weight; `owed` brings a tenant its turn whose weight comes to less than one slot. Beyond its concurrency share a tenant
 * comes after all that are within theirs, beyond its maximum never. Of equals, whoever stands first in `contenders`.
 */
export function chooseFairly(contenders: readonly Contender[], room: number): readonly Choice[] {
  const line = contenders.flatMap((contender) => placeOf(contender, 1)).sort(before);
  const choices: Choice[] = [];
  while (choices.length < room) {
    const place = line.shift();
    if (place === undefined) break;
    choices.push({ tenantId: place.tenantId, rank: place.rank });
    for (const next of placeOf(place.contender, place.position + 1)) line.splice(indexBehind(line, next), 0, next);
  }
  return choices;
}

/**
 * What each contender is owed after `given` places were handed out: every one earned its weight's share of them and paid
 * for what it got. Held within bounds, so that nobody saves up for a flood, and nobody pays for long for having run alone.
 */
export function settle(
  contenders: readonly Contender[],
  given: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const places = contenders.flatMap((contender) => placeOf(contender, 1));
  const withinShare = places.filter((place) => !place.overShare);
  const contending = withinShare.length > 0 ? withinShare : places;
  const weights = contending.reduce((sum, place) => sum + place.contender.weight, 0);
  const total = [...given.values()].reduce((sum, count) => sum + count, 0);
  return new Map(
    contending.map(({ contender: { tenantId, owed, weight } }) => [
      tenantId,
      Math.max(-MOST_OWED, Math.min(MOST_OWED, owed + (total * weight) / weights - (given.get(tenantId) ?? 0))),
    ]),
  );
}

/** None when the tenant may have no more in flight. */
function placeOf(contender: Contender, position: number): readonly Place[] {
  const { tenantId, inFlight, owed, weight, concurrencyShare, maxConcurrency } = contender;
  const wouldBe = inFlight + position;
  if (wouldBe > maxConcurrency) return [];
  const overShare = concurrencyShare !== null && wouldBe > concurrencyShare;
  return [{ contender, tenantId, position, overShare, rank: (wouldBe - owed) / weight }];
}

function before(a: Place, b: Place): number {
  return Number(a.overShare) - Number(b.overShare) || a.rank - b.rank;
}

/** Behind its equals in a sorted line: those have waited longer. */
function indexBehind(line: readonly Place[], place: Place): number {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = line[middle];
    if (other !== undefined && before(place, other) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
