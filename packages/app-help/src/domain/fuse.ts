/** Ranked lists joined into one (reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009). */

/**
 * Names of the lists: pieces by stems, by exact words, by stems with synonyms, pages by stems, pieces that name an
 * identifier, pages by what others say of them where they link to them, pieces by vector and pages by vector.
 */
const listNames = ['stem', 'exact', 'synonym', 'doc', 'link', 'identifier', 'vector', 'page'] as const
/** Name of a list. */
export type ListName = (typeof listNames)[number]

/** One hit of a list: a piece of a page, or of a list of pages the page alone. */
export interface Hit {
  readonly doc_id: number
  readonly item_id: number | null
  /** Cosine, of the list of vectors. */
  readonly similarity?: number
}

/** Hits by list, best first. */
export type Lists = Readonly<Partial<Record<ListName, readonly Hit[]>>>

/** A page with what spoke for it. */
export interface FusedDoc {
  readonly doc_id: number
  readonly score: number
  /** Rank in each list that has it, from 1. */
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  /** Its pieces, best first. */
  readonly items: readonly FusedItem[]
}

/** A piece with what spoke for it. */
export interface FusedItem {
  readonly item_id: number
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly similarity: number | null
}

/**
 * How little the first ranks of one list weigh against agreement of several. The paper has 60, for lists of a thousand
 * out of millions; documentation has tens of pages, and its tenth page is no answer any more.
 */
const k = 5
/**
 * Five lists go by words and two by meaning, which know more of a question in other words than the page's: pieces by vector count for
 * half more. A name of code says better than any word what is meant.
 */
const weights: Readonly<Partial<Record<ListName, number>>> = { vector: 1.5, identifier: 4 }
/** Pages of each list that count. */
const depth = 50

interface Growing {
  score: number
  readonly ranks: Partial<Record<ListName, number>>
}

/** Joins the lists: pages by their best rank in each list, pieces among themselves; equal ones by id. */
export function fuse(lists: Lists): FusedDoc[] {
  const docs = new Map<
    number,
    Growing & { readonly items: Map<number, Growing & { similarity: number | null }> }
  >()
  for (const name of listNames) {
    const seen = new Set<number>()
    for (const [at, hit] of (lists[name] ?? []).entries()) {
      const doc = docs.get(hit.doc_id) ?? { score: 0, ranks: {}, items: new Map() }
      if (!seen.has(hit.doc_id)) {
        if (seen.size === depth) continue
        seen.add(hit.doc_id)
        add(doc, name, seen.size)
        docs.set(hit.doc_id, doc)
      }
      if (hit.item_id === null) continue
      const item = doc.items.get(hit.item_id) ?? { score: 0, ranks: {}, similarity: null }
      add(item, name, at + 1)
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
        .sort(byScore((item) => item.item_id)),
    }))
    .sort(byScore((doc) => doc.doc_id))
}

function add(to: Growing, name: ListName, rank: number): void {
  to.ranks[name] = rank
  to.score += (weights[name] ?? 1) / (k + rank)
}

const byScore =
  <T extends { readonly score: number }>(id: (one: T) => number) =>
  (a: T, b: T): number =>
    b.score - a.score || id(a) - id(b)
