import { NONE } from "./byte-table.ts";
import { createNumberHeap, dropLeast, leastOf, pushNumber, replaceLeast, type NumberHeap } from "./number-heap.ts";

/** Rank and place share one number, the place in its lower 32 bits: what compares lower is merged first. */
const PLACES = 2 ** 32;
/** Lanes found without asking the map. */
const NEAR = 64;

/**
 * Pairs that wait to be merged: lowest rank first; of one rank, the first in the text first. Pairs of one rank come
 * mostly from left to right: they wait in a lane, and only its head stands in the heap, which stays small where the text
 * repeats itself. Those that come late stand in the heap alone.
 */
export interface MergeQueue {
  /** The rank of the pair at each place, of now. */
  readonly ranks: Int32Array;
  readonly heap: NumberHeap;
  readonly lanes: Map<number, Lane>;
  readonly near: Lane[];
}

interface Lane {
  readonly rank: number;
  readonly places: number[];
  head: number;
}

/** An empty queue for the pairs of a piece of `length` bytes. */
export function createMergeQueue(length: number): MergeQueue {
  const nowhere = createLane(NONE);
  return {
    ranks: new Int32Array(length).fill(NONE),
    heap: createNumberHeap(),
    lanes: new Map(),
    near: Array.from({ length: NEAR }, () => nowhere),
  };
}

/** Adds the pair at `place`, under its rank of now. */
export function pushPair(queue: MergeQueue, place: number): void {
  const rank = queue.ranks[place] ?? NONE;
  const lane = laneOf(queue, rank);
  const waiting = lane.places.length - lane.head;
  const last = waiting === 0 ? NONE : (lane.places[lane.places.length - 1] ?? NONE);
  if (place > last) lane.places.push(place);
  if (place < last || waiting === 0) pushNumber(queue.heap, rank * PLACES + place);
}

/** Takes the next pair out whose rank is still what it was added with; `NONE` at the end. */
export function popPair(queue: MergeQueue): number {
  const { heap, ranks } = queue;
  while (heap.size > 0) {
    const least = leastOf(heap);
    const rank = Math.floor(least / PLACES);
    const place = least - rank * PLACES;
    const lane = laneOf(queue, rank);
    if (lane.head < lane.places.length && lane.places[lane.head] === place) leave(heap, lane);
    else dropLeast(heap);
    if (ranks[place] === rank) return place;
  }
  return NONE;
}

function laneOf({ lanes, near }: MergeQueue, rank: number): Lane {
  const last = near[rank % NEAR];
  if (last !== undefined && last.rank === rank) return last;
  const lane = lanes.get(rank) ?? createLane(rank);
  lanes.set(rank, lane);
  near[rank % NEAR] = lane;
  return lane;
}

function createLane(rank: number): Lane {
  return { rank, places: [], head: 0 };
}

function leave(heap: NumberHeap, lane: Lane): void {
  lane.head += 1;
  if (lane.head === lane.places.length) dropLeast(heap);
  else replaceLeast(heap, lane.rank * PLACES + (lane.places[lane.head] ?? 0));
}
