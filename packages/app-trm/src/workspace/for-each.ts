const concurrency = 16

/** Calls `work` for each item, with a few calls at a time. Rejects with the first error. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const processNext = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: concurrency }, processNext))
}
