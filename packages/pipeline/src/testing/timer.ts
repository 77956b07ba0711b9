import type { After } from "../clock.ts";

/** A timer that ends when the test says so, and remembers what it was asked for. */
export function aTimer(): { readonly after: After; readonly asked: number[]; end(): void } {
  const waiting: (() => void)[] = [];
  const asked: number[] = [];
  return {
    asked,
    after: (ms) => {
      asked.push(ms);
      return new Promise((resolve) => waiting.push(resolve));
    },
    end: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

/** A timer whose time is over at once. */
export const noTime: After = () => Promise.resolve();
