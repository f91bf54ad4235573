const listNames = ['stem', 'exact', 'synonym', 'doc', 'link', 'identifier', 'vector', 'page'] as const
export type ListName = (typeof listNames)[number]

/** A chunk, or a page if `item_id` is `null`. */
export interface Hit {
  readonly doc_id: number
  readonly item_id: number | null
  /** Cosine, in lists of vector hits. */
  readonly similarity?: number
}

/** Best first. */
export type Lists = Readonly<Partial<Record<ListName, readonly Hit[]>>>

export interface FusedDoc {
  readonly doc_id: number
  readonly score: number
  /** Rank in each list, from 1. */
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  /** Best first. */
  readonly items: readonly FusedItem[]
}

export interface FusedItem {
  readonly item_id: number
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly similarity: number | null
}

/**
 * The constant k of reciprocal rank fusion. The paper's 60 suits long lists. In documentation, the tenth page is
 * already irrelevant.
 */
const k = 5
const weights: Readonly<Partial<Record<ListName, number>>> = { vector: 1.5, identifier: 4 }
const depth = 50

interface Accumulator {
  score: number
  readonly ranks: Partial<Record<ListName, number>>
}

/**
 * Ranks pages by their best rank in each list, and their chunks, with reciprocal rank fusion (Cormack, Clarke and
 * Büttcher, 2009).
 */
export function fuse(lists: Lists): FusedDoc[] {
  const docs = new Map<
    number,
    Accumulator & { readonly items: Map<number, Accumulator & { similarity: number | null }> }
  >()
  for (const name of listNames) {
    const seenDocs = new Set<number>()
    for (const [rankIndex, hit] of (lists[name] ?? []).entries()) {
      const doc = docs.get(hit.doc_id) ?? { score: 0, ranks: {}, items: new Map() }
      if (!seenDocs.has(hit.doc_id)) {
        if (seenDocs.size === depth) continue
        seenDocs.add(hit.doc_id)
        add(doc, name, seenDocs.size)
        docs.set(hit.doc_id, doc)
      }
      if (hit.item_id === null) continue
      const item = doc.items.get(hit.item_id) ?? { score: 0, ranks: {}, similarity: null }
      add(item, name, rankIndex + 1)
      if (hit.similarity !== undefined) item.similarity = hit.similarity
      doc.items.set(hit.item_id, item)
    }
  }
  return [...docs]
    .map(([doc_id, { score, ranks, items }]) => ({
      doc_id,
      score,
      ranks,
      items: [...items]
        .map(([item_id, item]) => ({ item_id, ...item }))
        .sort(compareByScore((item) => item.item_id)),
    }))
    .sort(compareByScore((doc) => doc.doc_id))
}

function add(accumulator: Accumulator, name: ListName, rank: number): void {
  accumulator.ranks[name] = rank
  accumulator.score += (weights[name] ?? 1) / (k + rank)
}

const compareByScore =
  <T extends { readonly score: number }>(id: (entry: T) => number) =>
  (a: T, b: T): number =>
    b.score - a.score || id(a) - id(b)
