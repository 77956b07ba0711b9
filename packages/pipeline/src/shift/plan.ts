/** Work that may have to wait: yields only promises, so that it runs to its end at once when there is nothing to wait for. */
export type Plan<T> = Generator<PromiseLike<unknown>, T, unknown>;

/** The value, or what its promise gives. Use as `yield* wait(value)`. */
export function* wait<T>(value: T | PromiseLike<T>): Plan<T> {
  return isPromise(value) ? ((yield value) as T) : value;
}

/** Runs a plan: answers at once unless something in it is a promise. */
export function run<T>(plan: Plan<T>): T | Promise<T> {
  const step = plan.next();
  return step.done === true ? step.value : finish(plan, step.value);
}

/** Runs a plan that waits for nothing. Throws `TypeError` if it does. */
export function runNow<T>(plan: Plan<T>): T {
  const step = plan.next();
  if (step.done === true) return step.value;
  throw new TypeError("Something that has to answer at once answered with a promise.");
}

async function finish<T>(plan: Plan<T>, first: PromiseLike<unknown>): Promise<T> {
  let pending = first;
  for (;;) {
    const step = await settled(pending).then((outcome) =>
      outcome.ok ? plan.next(outcome.value) : plan.throw(outcome.error),
    );
    if (step.done === true) return step.value;
    pending = step.value;
  }
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

async function settled(pending: PromiseLike<unknown>): Promise<Outcome> {
  try {
    return { ok: true, value: await pending };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Whether a value has to be waited for. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
