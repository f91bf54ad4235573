import { type Embedder, type EmbeddingSpace, requireSameSpace } from '@causeway/embed'
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import { limitText } from '../domain/budget.ts'
import { type FusedDoc, type FusedItem, fuse, type Hit, type ListName, type Lists } from '../domain/fuse.ts'
import { findNamedSources, rankByWeight, weighPage } from '../domain/page-weight.ts'
import { isMostlyUnspaced, listIdentifierTerms, listWordTerms, readQuestion } from '../domain/query.ts'
import { findSynonyms } from '../domain/synonym.ts'
import { type EmbeddingSettings, getWantedSpace } from '../embedding.ts'
import { HelpError } from '../errors.ts'
import type { DocRow, HelpIndex, ItemRow, Scope } from '../storage/types.ts'

export type Mode = 'hybrid' | 'lexical' | 'vector'

export interface SearchRequest {
  readonly text: string
  readonly top_n: number
  readonly chunks_per_result: number
  readonly mode: Mode
  readonly scope: Scope
  readonly max_chars: number
}

interface FoundChunk extends Omit<ItemRow, 'doc_id' | 'heading_level' | 'columns' | 'fence'> {
  /** Cosine to the query, or `null` without vectors. */
  readonly similarity: number | null
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly columns?: readonly [number, number]
  readonly fence?: string
}

interface FoundDoc extends DocRow {
  readonly uri: string
  readonly score: number
  readonly ranks: Readonly<Partial<Record<ListName, number>>>
  readonly chunks: readonly FoundChunk[]
  /** Mean cosine of the chunks, or `null` without vectors. */
  readonly avg_similarity: number | null
}

interface DegradedReason {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

export interface SearchAnswer {
  readonly results: readonly FoundDoc[]
  readonly mode: Mode
  readonly degraded?: DegradedReason
  readonly embedding_space: Pick<EmbeddingSpace, 'provider' | 'model' | 'dimensions'> | null
  readonly total_candidates: number
  /** Whether text was omitted because of `max_chars`. */
  readonly truncated: boolean
  readonly revision: number
}

export interface Searchable {
  readonly index: HelpIndex
  /** `undefined` if the index does not have usable vectors. */
  readonly embedder: Embedder | undefined
  readonly settings: EmbeddingSettings
}

const maxHits = 200

/** Throws `CANCELLED`. */
export async function search(
  { index, embedder, settings }: Searchable,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const { mode: requestedMode, text, scope } = request
  const vectorResult =
    requestedMode === 'lexical' ? {} : await embedQuestion({ index, embedder, settings }, text, signal)
  const mode = vectorResult.vector === undefined && requestedMode !== 'vector' ? 'lexical' : requestedMode
  const { vector, degraded } = vectorResult
  const lists = await rankLists(index, { text, mode, scope, vector })
  const fusedDocs = await fusePages(index, lists, text)
  const results = await makeResults(index, fusedDocs.slice(0, request.top_n), { ...request, vector })
  const { docs, isTruncated } = limitText(results, request.max_chars)
  return {
    results: docs,
    mode,
    ...(degraded === undefined ? {} : { degraded }),
    embedding_space: describeSpace(index),
    total_candidates: fusedDocs.length,
    truncated: isTruncated,
    revision: index.facts.revision,
  }
}

function describeSpace({ facts: { space } }: HelpIndex): SearchAnswer['embedding_space'] {
  if (space === undefined) return null
  const { provider, model, dimensions } = space
  return { provider, model, dimensions }
}

export async function fusePages(index: HelpIndex, lists: Lists, text: string): Promise<FusedDoc[]> {
  const fused = fuse(lists)
  const { words } = readQuestion(text)
  const namedSources = findNamedSources(
    words,
    index.facts.sources.map(({ source }) => source),
  )
  const docs = await index.readDocs(fused.map(({ doc_id }) => doc_id))
  const weights = new Map(docs.map((doc) => [doc.doc_id, weighPage(doc, namedSources, words)]))
  return rankByWeight(fused, (id) => weights.get(id) ?? 1)
}

export async function rankLists(
  index: HelpIndex,
  request: {
    readonly text: string
    readonly mode: Mode
    readonly scope: Scope
    readonly vector: Float32Array | undefined
  },
): Promise<Lists> {
  const { mode, scope, vector } = request
  const parsedQuestion = readQuestion(request.text)
  const words = mode === 'vector' ? [] : listWordTerms(parsedQuestion)
  const rankedLists = await index.rank({
    words,
    otherWords: findSynonyms(words),
    identifiers: mode === 'vector' ? [] : listIdentifierTerms(parsedQuestion),
    vector,
    scope,
    limit: maxHits,
  })
  // Without stems, both lists would be the same.
  const lists = isMostlyUnspaced(words) ? { ...rankedLists, exact: [] } : rankedLists
  return isSpecific(lists.identifier ?? [], index.facts.docs) ? lists : { ...lists, identifier: [] }
}

/** Whether identifier hits are specific. Names such as Node.js are too frequent. */
const isSpecific = (hits: readonly Hit[], docs: number): boolean =>
  new Set(hits.map(({ doc_id }) => doc_id)).size <= Math.max(5, docs / 20)

async function embedQuestion(
  { index, embedder, settings }: Searchable,
  text: string,
  signal: AbortSignal,
): Promise<{ vector?: Float32Array | undefined; degraded?: DegradedReason }> {
  const { space } = index.facts
  if (settings.provider === 'none') return {}
  if (space === undefined) return { degraded: toDegradedReason(notBuiltError) }
  try {
    requireSameSpace(space, getWantedSpace(settings))
    return { vector: await embedder?.embedQuery(addSynonyms(text, settings), { signal }) }
  } catch (error) {
    // Lexical search is still possible, except after a cancellation.
    if (!isCausewayError(error) || error.code === 'CANCELLED') throw error
    return { degraded: toDegradedReason(error) }
  }
}

/** Adds synonyms for LSA, which learns only synonyms in the corpus. */
export function addSynonyms(text: string, { provider }: EmbeddingSettings): string {
  if (provider !== 'lsa') return text
  return `${text} ${text} ${findSynonyms(listWordTerms(readQuestion(text))).join(' ')}`
}

const notBuiltError = new HelpError('HELP_NOT_BUILT', 'the vectors of the documentation are not complete yet')

const toDegradedReason = ({ code, message, remedy }: CausewayError): DegradedReason => ({
  code,
  message,
  remedy,
})

async function makeResults(
  index: HelpIndex,
  fused: readonly FusedDoc[],
  { chunks_per_result, vector }: { chunks_per_result: number; vector: Float32Array | undefined },
): Promise<FoundDoc[]> {
  const chosenItems = await Promise.all(
    fused.map(async (doc) => ({
      ...doc,
      items: await chooseItems(index, doc, { chunks_per_result, vector }),
    })),
  )
  const ids = chosenItems.flatMap(({ items }) => items.map(({ item_id }) => item_id))
  const rows = new Map((await index.readItems(ids)).map((row) => [row.item_id, row]))
  const docs = new Map(
    (await index.readDocs(chosenItems.map(({ doc_id }) => doc_id))).map((row) => [row.doc_id, row]),
  )
  const similarity = vector === undefined ? new Map() : await index.computeSimilarities(ids, vector)
  return chosenItems.flatMap(({ doc_id, score, ranks, items }) => {
    const doc = docs.get(doc_id)
    if (doc === undefined) return []
    const chunks = items
      .flatMap((item) => toFoundChunk(item, rows.get(item.item_id), similarity.get(item.item_id)))
      .sort((a, b) => a.position - b.position)
    const knownSimilarities = chunks.flatMap((chunk) => chunk.similarity ?? [])
    const sum = knownSimilarities.reduce((total, similarity) => total + similarity, 0)
    return [
      {
        ...doc,
        uri: `help://doc/${doc_id}`,
        score,
        ranks,
        chunks,
        avg_similarity: knownSimilarities.length === 0 ? null : sum / knownSimilarities.length,
      },
    ]
  })
}

/** Returns a page's best chunks, or the nearest to the query if the page matched as a whole. */
async function chooseItems(
  index: HelpIndex,
  { doc_id, items }: FusedDoc,
  { chunks_per_result, vector }: { chunks_per_result: number; vector: Float32Array | undefined },
): Promise<readonly FusedItem[]> {
  if (items.length > 0) return items.slice(0, chunks_per_result)
  const ids = await index.listItemIds(doc_id)
  const similarities = vector === undefined ? undefined : await index.computeSimilarities(ids, vector)
  return ids
    .map((item_id) => ({ item_id, score: 0, ranks: {}, similarity: similarities?.get(item_id) ?? null }))
    .sort((a, b) => (b.similarity ?? 0) - (a.similarity ?? 0) || a.item_id - b.item_id)
    .slice(0, chunks_per_result)
}

function toFoundChunk(
  { score, ranks }: FusedItem,
  row: ItemRow | undefined,
  similarity: number | undefined,
): FoundChunk[] {
  if (row === undefined) return []
  const { doc_id: _doc, heading_level: _level, columns, fence, ...fields } = row
  return [
    {
      ...fields,
      ...(columns === null ? {} : { columns }),
      ...(fence === null ? {} : { fence }),
      similarity: similarity ?? null,
      score,
      ranks,
    },
  ]
}
