/** Events of a feed of the server, oldest first. */
export interface FeedBatch<T> {
  /** Id of the server's run, and number of its events up to the end of this batch: `mb1x2.41`. */
  readonly id: string
  readonly events: readonly T[]
  /** Number of events before this batch that the server no longer stores. */
  readonly missed: number
}

/** Returns the part of a batch after a position, or `undefined` if events between the two are missing. */
export function takeNewEvents<T>(position: string, batch: FeedBatch<T>): FeedBatch<T> | undefined {
  const ownPosition = parsePosition(position)
  const { run, count } = parsePosition(batch.id)
  const newEvents = run === ownPosition.run ? count - ownPosition.count : count
  const { length } = batch.events
  if (newEvents > length + batch.missed) return undefined
  if (newEvents <= 0) return { id: run === ownPosition.run ? position : batch.id, events: [], missed: 0 }
  return {
    id: batch.id,
    events: batch.events.slice(Math.max(0, length - newEvents)),
    missed: Math.max(0, newEvents - length),
  }
}

function parsePosition(id: string): { readonly run: string; readonly count: number } {
  const [run = '', count = '0'] = id.split('.')
  return { run, count: Number(count) }
}
