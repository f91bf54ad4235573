/** How much memory has to be given back. Bytes. */

/** A bound, with where giving back begins and how far it goes, so that it is not begun anew all the time. */
interface Band {
  readonly from: number
  readonly to: number
}

/** Of all memory that the process may have. */
const processBand: Band = { from: 0.85, to: 0.7 }

/** Of the cap of the heap; V8 collects ever more often above it. */
const heapBand: Band = { from: 0.75, to: 0.6 }

/** What was seen of the process; a limit of 0 is none. */
export interface MemoryState {
  readonly usedBytes: number
  readonly limitBytes: number
  readonly heapBytes: number
  readonly heapLimitBytes: number
}

/** What has to be given back: of any memory, and of the heap of the server's own thread. */
export interface MemoryNeed {
  readonly anyBytes: number
  readonly heapBytes: number
}

/** The need; nothing below the bands. */
export const memoryNeed = ({
  usedBytes,
  limitBytes,
  heapBytes,
  heapLimitBytes,
}: MemoryState): MemoryNeed => ({
  anyBytes: limitBytes === 0 ? 0 : beyond(usedBytes, limitBytes, processBand),
  heapBytes: beyond(heapBytes, heapLimitBytes, heapBand),
})

/** True while there is more than may be. */
export const isOver = ({ usedBytes, limitBytes }: MemoryState): boolean =>
  limitBytes > 0 && usedBytes > limitBytes

const beyond = (used: number, limit: number, { from, to }: Band): number =>
  used > limit * from ? Math.ceil(used - limit * to) : 0
