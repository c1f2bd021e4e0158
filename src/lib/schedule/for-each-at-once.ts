/**
 * Works on items side by side, so many at once, and begins with them in their order. Once one has failed, no other is
 * begun; it then rejects with the first failure, after everything under way has ended.
 */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  atOnceMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;

  async function workOn(): Promise<void> {
    while (next < items.length && failures.length === 0) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failures.push(error);
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, workOn));
  if (failures.length > 0) throw failures[0];
}
