/** Numbers, the lowest first: a binary heap in the first `size` places of an array that never shrinks. */
export interface NumberHeap {
  readonly numbers: number[];
  size: number;
}

/** An empty heap. */
export function createNumberHeap(): NumberHeap {
  return { numbers: [0], size: 0 };
}

/** The lowest number, which stays; only of a heap that is not empty. */
export function leastOf({ numbers }: NumberHeap): number {
  return numbers[0] ?? 0;
}

/** Puts a number in. */
export function pushNumber(heap: NumberHeap, value: number): void {
  const { numbers } = heap;
  let here = heap.size;
  heap.size += 1;
  if (here === numbers.length) numbers.push(value);
  while (here > 0) {
    const parent = (here - 1) >> 1;
    const above = numbers[parent] ?? 0;
    if (above <= value) break;
    numbers[here] = above;
    here = parent;
  }
  numbers[here] = value;
}

/** Takes the lowest number out. */
export function dropLeast(heap: NumberHeap): void {
  heap.size -= 1;
  replaceLeast(heap, heap.numbers[heap.size] ?? 0);
}

/** Puts a number in the place of the lowest. */
export function replaceLeast({ numbers, size }: NumberHeap, value: number): void {
  let here = 0;
  for (let child = 1; child < size; child = here * 2 + 1) {
    if (child + 1 < size && (numbers[child + 1] ?? 0) < (numbers[child] ?? 0)) child += 1;
    const below = numbers[child] ?? 0;
    if (below >= value) break;
    numbers[here] = below;
    here = child;
  }
  numbers[here] = value;
}
