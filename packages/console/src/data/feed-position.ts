/** Events of a feed of the server, oldest first. */
export interface FeedBatch<T> {
  /** Run of the server and number of events since its start, after this batch: `mb1x2.41`. */
  readonly id: string
  readonly events: readonly T[]
  /** Number of events before these that the server no longer stores. */
  readonly missed: number
}

/** Returns what follows a position, or `undefined` if there are events between the position and the batch. */
export function takeUnseen<T>(position: string, batch: FeedBatch<T>): FeedBatch<T> | undefined {
  const own = parsePosition(position)
  const { run, count } = parsePosition(batch.id)
  const unseen = run === own.run ? count - own.count : count
  const { length } = batch.events
  if (unseen > length + batch.missed) return undefined
  if (unseen <= 0) return { id: run === own.run ? position : batch.id, events: [], missed: 0 }
  return {
    id: batch.id,
    events: batch.events.slice(Math.max(0, length - unseen)),
    missed: Math.max(0, unseen - length),
  }
}

function parsePosition(id: string): { readonly run: string; readonly count: number } {
  const [run = '', count = '0'] = id.split('.')
  return { run, count: Number(count) }
}
