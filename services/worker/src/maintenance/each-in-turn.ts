/**
 * Does the work for each item, one after the other. One that fails does not keep the rest waiting: its error is thrown
 * when all have had their turn, several as one `AggregateError`.
 */
export async function eachInTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} of ${items.length} failed`);
}
