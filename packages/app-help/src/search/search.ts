/** Questions to the documentation: rank, fuse, group by page, cut to what the caller can take. */
import { type Embedder, type EmbeddingSpace, requireSameSpace } from '@causeway/embed'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { withinBudget } from '../domain/budget.ts'
import { type FusedDoc, type FusedItem, fuse, type Hit, type ListName, type Lists } from '../domain/fuse.ts'
import { namedSources, preferSources } from '../domain/named-source.ts'
import { identifierTerms, readQuestion, wordTerms } from '../domain/query.ts'
import { otherWords } from '../domain/synonym.ts'
import { type EmbeddingSettings, wantedSpace } from '../embedding.ts'
import type { DocRow, HelpIndex, ItemRow, Scope } from '../storage.ts'

/** Which lists are asked. */
export type Mode = 'hybrid' | 'lexical' | 'vector'

/** A question. */
export interface SearchRequest {
  readonly text: string
  /** Pages at most. */
  readonly top_n: number
  /** Pieces shown of each page at most. */
  readonly chunks_per_result: number
  readonly mode: Mode
  readonly scope: Scope
  /** Characters of all pieces together at most. */
  readonly max_chars: number
}

/** A piece in a result. */
export interface FoundChunk extends Omit<ItemRow, 'doc_id' | 'heading_level' | 'columns' | 'fence'> {
  /** Cosine to the question; null without vectors. */
  readonly similarity: number | null
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly columns?: readonly [number, number]
  readonly fence?: string
}

/** A page in a result. */
export interface FoundDoc extends DocRow {
  readonly uri: string
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly chunks: readonly FoundChunk[]
  /** Mean of the cosines of the pieces shown; null without vectors. */
  readonly avg_similarity: number | null
}

/** Why an answer is less than it could be. */
export interface Degraded {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** The answer to a question. */
export interface SearchAnswer {
  readonly results: readonly FoundDoc[]
  readonly mode: Mode
  readonly degraded?: Degraded
  /** Where the vectors come from; null without. */
  readonly embedding_space: Pick<EmbeddingSpace, 'provider' | 'model' | 'dimensions'> | null
  /** Pages that matched at all. */
  readonly total_candidates: number
  /** True where text was left out for max_chars. */
  readonly truncated: boolean
  readonly revision: number
}

/** What questions are answered from. */
export interface Searchable {
  readonly index: HelpIndex
  /** Undefined where the index has no vectors, or none that the settings allow. */
  readonly embedder: Embedder | undefined
  readonly settings: EmbeddingSettings
}

/** Hits of each list that are fused. */
const hitsOfList = 200

/** Answers a question; throws `CANCELLED`, and otherwise only what is a defect. */
export async function search(
  { index, embedder, settings }: Searchable,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const { mode: asked, text, scope } = request
  const question =
    asked === 'lexical' ? {} : await questionVector({ index, embedder, settings }, text, signal)
  const mode = question.vector === undefined && asked !== 'vector' ? 'lexical' : asked
  const { vector, degraded } = question
  const lists = await rankedLists(index, { text, mode, scope, vector })
  const fused = await fusedPages(index, lists, text)
  const results = await shown(index, fused.slice(0, request.top_n), { ...request, vector })
  const { docs, isCut } = withinBudget(results, request.max_chars)
  return {
    results: docs,
    mode,
    ...(degraded === undefined ? {} : { degraded }),
    embedding_space: spaceOf(index),
    total_candidates: fused.length,
    truncated: isCut,
    revision: index.facts.revision,
  }
}

function spaceOf({ facts: { space } }: HelpIndex): SearchAnswer['embedding_space'] {
  if (space === undefined) return null
  const { provider, model, dimensions } = space
  return { provider, model, dimensions }
}

/** The lists joined; pages of a package that the question names go before those of others. */
export async function fusedPages(index: HelpIndex, lists: Lists, text: string): Promise<FusedDoc[]> {
  const fused = fuse(lists)
  const named = namedSources(
    readQuestion(text).words,
    index.facts.sources.map(({ source }) => source),
  )
  if (named.size === 0) return fused
  const docs = await index.docsById(fused.map(({ doc_id }) => doc_id))
  const sources = new Map(docs.map(({ doc_id, source }) => [doc_id, source]))
  return preferSources(fused, named, (id) => sources.get(id))
}

/** The lists of a question in a mode. */
export async function rankedLists(
  index: HelpIndex,
  ask: {
    readonly text: string
    readonly mode: Mode
    readonly scope: Scope
    readonly vector: Float32Array | undefined
  },
): Promise<Lists> {
  const { mode, scope, vector } = ask
  const question = readQuestion(ask.text)
  const words = mode === 'vector' ? [] : wordTerms(question)
  const lists = await index.rank({
    words,
    others: otherWords(words),
    identifiers: mode === 'vector' ? [] : identifierTerms(question),
    vector,
    scope,
    limit: hitsOfList,
  })
  return isTelling(lists.identifier ?? [], index.facts.docs) ? lists : { ...lists, identifier: [] }
}

/** A name that is everywhere, such as Node.js, says nothing about a page. */
const isTelling = (hits: readonly Hit[], docs: number): boolean =>
  new Set(hits.map(({ doc_id }) => doc_id)).size <= Math.max(5, docs / 20)

async function questionVector(
  { index, embedder, settings }: Searchable,
  text: string,
  signal: AbortSignal,
): Promise<{ vector?: Float32Array | undefined; degraded?: Degraded }> {
  const { space } = index.facts
  if (settings.provider === 'none') return {}
  if (space === undefined) return { degraded: degradedBy(notYet) }
  try {
    requireSameSpace(space, wantedSpace(settings))
    return { vector: await embedder?.embedQuery(asEmbedded(text, settings), { signal }) }
  } catch (error) {
    // Words still find what meaning cannot be asked for; only the caller's own end stops the search.
    if (!isCausewayError(error) || error.code === 'CANCELLED') throw error
    return { degraded: degradedBy(error) }
  }
}

/** The analysis of a corpus knows no synonym that the corpus does not have; a trained model does. */
export function asEmbedded(text: string, { provider }: EmbeddingSettings): string {
  if (provider !== 'lsa') return text
  return `${text} ${text} ${otherWords(wordTerms(readQuestion(text))).join(' ')}`
}

const notYet = new CausewayError('HELP_NOT_BUILT', 'the vectors of the documentation are still being made')

const degradedBy = ({ code, message, remedy }: CausewayError): Degraded => ({ code, message, remedy })

async function shown(
  index: HelpIndex,
  fused: readonly FusedDoc[],
  { chunks_per_result, vector }: { chunks_per_result: number; vector: Float32Array | undefined },
): Promise<FoundDoc[]> {
  const chosen = await Promise.all(
    fused.map(async (doc) => ({
      ...doc,
      items: await chosenItems(index, doc, { chunks_per_result, vector }),
    })),
  )
  const ids = chosen.flatMap(({ items }) => items.map(({ item_id }) => item_id))
  const rows = new Map((await index.items(ids)).map((row) => [row.item_id, row]))
  const docs = new Map(
    (await index.docsById(chosen.map(({ doc_id }) => doc_id))).map((row) => [row.doc_id, row]),
  )
  const similarity = vector === undefined ? new Map() : await index.similarities(ids, vector)
  return chosen.flatMap(({ doc_id, score, ranks, items }) => {
    const doc = docs.get(doc_id)
    if (doc === undefined) return []
    const chunks = items
      .flatMap((item) => foundChunk(item, rows.get(item.item_id), similarity.get(item.item_id)))
      .sort((a, b) => a.position - b.position)
    const known = chunks.flatMap((chunk) => chunk.similarity ?? [])
    const sum = known.reduce((total, one) => total + one, 0)
    return [
      {
        ...doc,
        uri: `help://doc/${doc_id}`,
        score,
        ranks,
        chunks,
        avg_similarity: known.length === 0 ? null : sum / known.length,
      },
    ]
  })
}

/** The best pieces of a page; of one that was found as a whole, those nearest to the question, or its first. */
async function chosenItems(
  index: HelpIndex,
  { doc_id, items }: FusedDoc,
  { chunks_per_result, vector }: { chunks_per_result: number; vector: Float32Array | undefined },
): Promise<readonly FusedItem[]> {
  if (items.length > 0) return items.slice(0, chunks_per_result)
  const ids = await index.itemsOf(doc_id)
  const near = vector === undefined ? undefined : await index.similarities(ids, vector)
  return ids
    .map((item_id) => ({ item_id, score: 0, ranks: {}, similarity: near?.get(item_id) ?? null }))
    .sort((a, b) => (b.similarity ?? 0) - (a.similarity ?? 0) || a.item_id - b.item_id)
    .slice(0, chunks_per_result)
}

function foundChunk(
  { score, ranks }: FusedItem,
  row: ItemRow | undefined,
  similarity: number | undefined,
): FoundChunk[] {
  if (row === undefined) return []
  const { doc_id: _doc, heading_level: _level, columns, fence, ...rest } = row
  return [
    {
      ...rest,
      ...(columns === null ? {} : { columns }),
      ...(fence === null ? {} : { fence }),
      similarity: similarity ?? null,
      score,
      ranks,
    },
  ]
}
