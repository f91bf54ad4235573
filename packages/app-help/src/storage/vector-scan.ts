import { createVectorTable, decodeVector, findNearest, normalize, type VectorTable } from '@causeway/embed'
import type { Hit } from '../domain/fuse.ts'

export interface StoredVector {
  readonly item_id: number
  readonly doc_id: number
  readonly embedding: Uint8Array
}

export class VectorScan {
  readonly #items: VectorTable
  readonly #pages: VectorTable
  readonly #owners: ReadonlyMap<number, number>
  readonly #rows: ReadonlyMap<number, number>

  constructor(dimensions: number, storedVectors: readonly StoredVector[]) {
    this.#items = createVectorTable(
      dimensions,
      storedVectors.map(({ item_id, embedding }) => [item_id, decodeVector(embedding)] as const),
    )
    const owners = new Map(storedVectors.map(({ item_id, doc_id }) => [item_id, doc_id]))
    this.#owners = owners
    this.#rows = new Map(this.#items.ids.map((id, row) => [id, row]))
    this.#pages = computeMeanVectors(this.#items, (item) => owners.get(item) ?? 0)
  }

  computeSimilarities(items: readonly number[], vector: Float32Array): ReadonlyMap<number, number> {
    const { data, dimensions } = this.#items
    const similarities = new Map<number, number>()
    for (const id of items) {
      const row = this.#rows.get(id)
      if (row === undefined) continue
      let sum = 0
      for (let k = 0; k < dimensions; k++) sum += (data[row * dimensions + k] ?? 0) * (vector[k] ?? 0)
      similarities.set(id, sum)
    }
    return similarities
  }

  /** Omits chunks without a positive cosine. */
  findNearestItems(vector: Float32Array, limit: number, visible: ReadonlySet<number>): Hit[] {
    const owner = (item: number): number => this.#owners.get(item) ?? 0
    return findNearest(this.#items, vector, limit, (item) => visible.has(owner(item)))
      .filter(({ similarity }) => similarity > 0)
      .map(({ id, similarity }) => ({ item_id: id, doc_id: owner(id), similarity }))
  }

  findNearestPages(vector: Float32Array, limit: number, visible: ReadonlySet<number>): Hit[] {
    return findNearest(this.#pages, vector, limit, (doc) => visible.has(doc))
      .filter(({ similarity }) => similarity > 0)
      .map(({ id }) => ({ doc_id: id, item_id: null }))
  }
}

/** Expects and returns vectors of length 1. */
function computeMeanVectors(
  { dimensions, ids, data }: VectorTable,
  getPage: (item: number) => number,
): VectorTable {
  const sums = new Map<number, Float32Array>()
  for (const [row, id] of ids.entries()) {
    const sum = sums.get(getPage(id)) ?? new Float32Array(dimensions)
    for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] ?? 0) + (data[row * dimensions + k] ?? 0)
    sums.set(getPage(id), sum)
  }
  const rows = [...sums].flatMap(([id, sum]) => {
    const mean = normalize(sum)
    return mean === undefined ? [] : [[id, mean] as const]
  })
  return createVectorTable(dimensions, rows)
}
