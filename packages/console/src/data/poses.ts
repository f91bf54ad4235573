/** Number of values of a pose: position x y z in m, quaternion w x y z. */
export const poseWidth = 7

/** A body is drawn if its state has this bit and no other. */
const recordedBit = 1

export interface PoseChunk {
  readonly bodies: readonly number[]
  /** Column by body id. */
  readonly columns: ReadonlyMap<number, number>
  /** Frame ids, shape [frames] */
  readonly frames: Float64Array
  /** s, shape [frames] */
  readonly times: Float64Array
  readonly origin: readonly [number, number, number]
  /** shape [frames, bodies] */
  readonly states: Uint8Array
  /** shape [frames, bodies, 7], row-major float32 */
  readonly values: Float32Array
}

export interface PoseRow {
  readonly chunk: PoseChunk
  readonly row: number
}

/** Parses the binary format CWP1. Throws `Error` if the data is malformed. */
export function parsePoses(buffer: ArrayBuffer): PoseChunk {
  const view = new DataView(buffer)
  if (buffer.byteLength < 56 || view.getUint32(0) !== 0x43575031) throw new Error('not poses of Causeway')
  const [frames, bodies] = [view.getUint32(8, true), view.getUint32(12, true)]
  const origin = [view.getFloat64(16, true), view.getFloat64(24, true), view.getFloat64(32, true)] as const
  let at = 56
  const readArray = <T>(bytes: number, create: (offset: number) => T): T => {
    const array = create(at)
    at += bytes
    return array
  }
  const ids = readArray(frames * 8, (offset) => new Float64Array(buffer, offset, frames))
  const times = readArray(frames * 8, (offset) => new Float64Array(buffer, offset, frames))
  const bodyIds = readArray(bodies * 4, (offset) => [...new Uint32Array(buffer, offset, bodies)])
  const count = frames * bodies
  const states = readArray(Math.ceil(count / 4) * 4, (offset) => new Uint8Array(buffer, offset, count))
  const values = new Float32Array(buffer, at, count * poseWidth)
  const columns = new Map(bodyIds.map((id, column) => [id, column]))
  return { frames: ids, times, bodies: bodyIds, columns, origin, states, values }
}

/** Whether a body is recorded in a frame and has a finite pose at a distance that can be drawn. */
export const isDrawable = ({ chunk, row }: PoseRow, column: number): boolean =>
  chunk.states[row * chunk.bodies.length + column] === recordedBit

export const isDisplaced = ({ chunk, row }: PoseRow, column: number): boolean =>
  ((chunk.states[row * chunk.bodies.length + column] ?? 0) & ~recordedBit) !== 0

export function getPosition({ chunk, row }: PoseRow, column: number): [number, number, number] {
  const at = (row * chunk.bodies.length + column) * poseWidth
  const { values, origin } = chunk
  return [0, 1, 2].map((axis) => (values[at + axis] ?? Number.NaN) + (origin[axis] ?? 0)) as [
    number,
    number,
    number,
  ]
}

const framesPerChunk = 256
const maxBytes = 64 * 2 ** 20

/** Reads the poses from frame `first` to `last`, inclusive, as CWP1. */
export type ReadPoses = (first: number, last: number) => Promise<ArrayBuffer>

/** Loads poses in chunks. Caches the most recently used chunks, up to 64 MB. */
export class PoseCache {
  readonly #read: ReadPoses
  readonly #firstFrame: number
  readonly #chunks = new Map<number, Promise<PoseChunk>>()
  readonly #loaded = new Map<number, PoseChunk>()
  #bytes = 0

  constructor(read: ReadPoses, first: number) {
    this.#read = read
    this.#firstFrame = first
  }

  find(frame: number): PoseRow | undefined {
    const chunk = this.#loaded.get(this.#toIndex(frame))
    return chunk === undefined ? undefined : findRow(chunk, frame)
  }

  /** Loads a frame. Returns `undefined` if the recording does not contain it, or if it cannot be read. */
  async load(frame: number): Promise<PoseRow | undefined> {
    const index = this.#toIndex(frame)
    const chunkPromise = this.#chunks.get(index) ?? this.#fetch(index)
    this.#chunks.delete(index)
    this.#chunks.set(index, chunkPromise)
    return chunkPromise.then(
      (chunk) => findRow(chunk, frame),
      () => undefined,
    )
  }

  /** Loads at most `count` frames that end with `frame`, newest first, from at most two chunks. */
  async loadTrail(frame: number, count: number): Promise<PoseRow[]> {
    let pose = await this.load(frame)
    if (this.#toIndex(frame) > 0) await this.load(Math.max(this.#firstFrame, frame - count))
    const rows: PoseRow[] = []
    while (pose !== undefined && rows.length < count) {
      rows.push(pose)
      const { chunk, row }: PoseRow = pose
      pose = row > 0 ? { chunk, row: row - 1 } : this.find((chunk.frames[0] ?? 0) - 1)
    }
    return rows
  }

  discard(frame: number): void {
    const index = this.#toIndex(frame)
    this.#bytes -= this.#loaded.get(index)?.values.buffer.byteLength ?? 0
    this.#loaded.delete(index)
    this.#chunks.delete(index)
  }

  #toIndex(frame: number): number {
    return Math.floor((frame - this.#firstFrame) / framesPerChunk)
  }

  #fetch(index: number): Promise<PoseChunk> {
    const firstFrame = this.#firstFrame + index * framesPerChunk
    const chunkPromise: Promise<PoseChunk> = this.#read(firstFrame, firstFrame + framesPerChunk - 1).then(
      (bytes) => {
        const chunk = parsePoses(bytes)
        // A newer request for this chunk was sent.
        if (this.#chunks.get(index) !== chunkPromise) return chunk
        this.#loaded.set(index, chunk)
        this.#bytes += bytes.byteLength
        this.#evict(index)
        return chunk
      },
    )
    this.#chunks.set(index, chunkPromise)
    chunkPromise.catch(() => {
      if (this.#chunks.get(index) === chunkPromise) this.#chunks.delete(index)
    })
    return chunkPromise
  }

  #evict(usedIndex: number): void {
    for (const index of this.#chunks.keys()) {
      if (this.#bytes <= maxBytes) return
      const chunk = this.#loaded.get(index)
      if (index === usedIndex || chunk === undefined) continue
      this.#bytes -= chunk.values.buffer.byteLength
      this.#chunks.delete(index)
      this.#loaded.delete(index)
    }
  }
}

/** Returns the row of a frame, or of the last frame before it if the recording has a gap. */
function findRow(chunk: PoseChunk, frame: number): PoseRow | undefined {
  const row = chunk.frames.findLastIndex((id) => id <= frame)
  return row === -1 ? undefined : { chunk, row }
}
