/**
 * Makes the next index: looks at every file of the sources, cuts only what has changed, and publishes the whole at once.
 * What fails before that changes nothing for those who search.
 */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { ChunkSize } from '../domain/chunk.ts'
import { embeddedText } from '../domain/index-text.ts'
import { pageVersion, readPage } from '../domain/page.ts'
import { type EmbeddingSettings, isConfigured, wanted } from '../embedding.ts'
import type { BuildLock, BuildReport, HelpStorage, IndexFacts, KnownPage, NewPage } from '../storage.ts'
import { type FoundFile, findPages, readFound } from './collect.ts'
import { type BuildCall, type MadeVectors, makeVectors, type Texts } from './make-vectors.ts'
import type { Source } from './source.ts'

/** What is built. */
export interface BuildRequest {
  readonly sources: readonly Source[]
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  /** Starts from nothing, which also changes how pages are cut or which vectors they have. */
  readonly rebuild: boolean
  /** Names this build in the lock. */
  readonly holder: string
}

/** What building uses of the world. */
export interface BuildTools extends BuildCall {
  readonly storage: HelpStorage
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Builds and publishes. Throws `HELP_BUILD_RUNNING`, `HELP_CHUNKING_CHANGED` and `EMBEDDING_SPACE_MISMATCH` (both only
 * without `rebuild`), `CANCELLED`, and what an embedder throws. A file that cannot be read is told in the report, and
 * what the index has of it stays.
 */
export async function build(request: BuildRequest, tools: BuildTools): Promise<BuildReport> {
  const { storage } = tools
  const lock = await storage.lock(request.holder)
  try {
    const report = await buildLocked(request, tools, lock)
    await storage.saveReport(report)
    return report
  } finally {
    await lock.release()
  }
}

async function buildLocked(request: BuildRequest, tools: BuildTools, lock: BuildLock): Promise<BuildReport> {
  const { storage, now, progress } = tools
  const started = now()
  const index = await storage.open()
  const facts = index?.facts
  await index?.close()
  const chunking = chunkingName(request.size)
  if (facts !== undefined && !request.rebuild) refuseMixing(facts, chunking, request.embedding)

  const known = request.rebuild ? [] : await storage.known()
  const plan = await planPages(request, known, tools)
  await lock.renew()
  const report = (made: Pick<MadeVectors, 'embedded' | 'reused'>, revision: number): BuildReport => ({
    ...plan.counts,
    embedded: made.embedded,
    reused: made.reused,
    failed: plan.failed,
    warnings: plan.warnings,
    revision,
    ms: now() - started,
  })

  const isChanged = plan.pages.length > 0 || plan.removed.length > 0
  const lacksVectors = facts?.space === undefined && request.embedding.provider !== 'none' && known.length > 0
  if (facts !== undefined && !request.rebuild && !isChanged && !lacksVectors)
    return report({ embedded: 0, reused: facts.items }, facts.revision)

  const change = { fresh: request.rebuild, removed: plan.removed, pages: plan.pages, chunking }
  if (facts === undefined) {
    // Whoever asks meanwhile gets answers by words, before there are vectors.
    progress(0, undefined, 'writing the first index')
    await storage.publish({ ...change, vectors: undefined })
    await lock.renew()
  }
  const made = await makeVectors(
    await textsOf(storage, plan, request.rebuild),
    request.embedding,
    storage,
    tools,
  )
  await lock.renew()
  progress(0, undefined, 'writing the index')
  const rest = facts === undefined ? { ...change, fresh: false, removed: [], pages: [] } : change
  const revision = await storage.publish({ ...rest, vectors: made.vectors })
  return report(made, revision)
}

/** Names the rules by which pages are cut; also what tells two builds apart that do not fit together. */
export const chunkingName = ({ size, overlap }: ChunkSize): string => `${pageVersion}:${size}:${overlap}`

function refuseMixing(
  { chunking, space }: IndexFacts,
  wantedChunking: string,
  embedding: EmbeddingSettings,
): void {
  if (chunking !== wantedChunking)
    throw new CausewayError(
      'HELP_CHUNKING_CHANGED',
      `the index has pieces of ${chunking}, not ${wantedChunking}`,
      {
        data: { stored: chunking, configured: wantedChunking },
      },
    )
  if (space === undefined || isConfigured(space, embedding)) return
  throw new CausewayError(
    'EMBEDDING_SPACE_MISMATCH',
    'the index has vectors of another space than is configured',
    {
      data: { stored: space, configured: wanted(embedding) },
    },
  )
}

interface Plan {
  readonly pages: readonly NewPage[]
  readonly removed: readonly number[]
  /** Pages that the new ones take the place of. */
  readonly replaced: readonly number[]
  readonly counts: Pick<BuildReport, 'added' | 'updated' | 'unchanged' | 'removed'>
  readonly failed: BuildReport['failed']
  readonly warnings: readonly string[]
}

async function planPages(
  { sources, size }: BuildRequest,
  known: readonly KnownPage[],
  { signal, progress }: BuildTools,
): Promise<Plan> {
  const found = await Promise.all(sources.map(findPages))
  const files = found.flatMap((one) => one.files)
  const before = new Map(known.map((page) => [keyOf(page.source, page.file_path), page]))
  const failed: { file: string; reason: string }[] = []
  const warnings = found.flatMap(({ refused }) => refused.map(({ file, reason }) => `${file}: ${reason}`))
  const pages: NewPage[] = []
  const replaced: number[] = []
  let [added, unchanged] = [0, 0]
  for (const [i, file] of files.entries()) {
    const key = keyOf(file.source.name, file.file_path)
    const earlier = before.get(key)
    before.delete(key)
    const outcome = await newPage(file, earlier, size).catch((error: NodeJS.ErrnoException) => {
      failed.push({
        file: `${file.source.name}/${file.file_path}`,
        reason: error.code ?? 'it cannot be read',
      })
    })
    if (outcome === undefined) continue
    if (outcome.warning !== undefined)
      warnings.push(`${file.source.name}/${file.file_path}: ${outcome.warning}`)
    if (outcome.page === undefined) unchanged++
    else {
      pages.push(outcome.page)
      if (earlier === undefined) added++
      else replaced.push(earlier.doc_id)
    }
    if (i % filesPerTurn !== 0) continue
    progress(i, files.length, 'reading pages')
    await turn()
    if (signal.aborted) throw new CausewayError('CANCELLED', 'the build was cancelled')
  }
  // Only what these sources had: the pages of others are none of this build's business.
  const names = new Set(sources.map(({ name }) => name))
  const removed = [...before.values()].filter(({ source }) => names.has(source)).map(({ doc_id }) => doc_id)
  const counts = { added, updated: replaced.length, unchanged, removed: removed.length }
  return { pages, removed, replaced, counts, failed, warnings }
}

const filesPerTurn = 16

async function newPage(
  file: FoundFile,
  earlier: KnownPage | undefined,
  size: ChunkSize,
): Promise<{ page: NewPage | undefined; warning: string | undefined }> {
  const { bytes_hash, warning, ...read } = await readFound(file)
  const content_hash = hash(`${chunkingName(size)}\n${read.is_internal}\n${bytes_hash}`)
  if (earlier?.content_hash === content_hash) return { page: undefined, warning }
  const page = readPage(read, size)
  const text_hashes = page.chunks.map(({ heading, text }) => hash(embeddedText(page.title, heading, text)))
  return { page: { ...page, content_hash, text_hashes }, warning }
}

/** Every text that the next index has, by hash: those of the pages that stay, and those of the new ones. */
async function textsOf(storage: HelpStorage, plan: Plan, rebuild: boolean): Promise<Texts> {
  const texts = new Map<string, string>()
  // What is gone must also be gone from the words of the analysis.
  const gone = new Set([...plan.removed, ...plan.replaced])
  for (const { doc_id, text_hash, title, heading, text } of rebuild ? [] : await storage.embeddedItems())
    if (!gone.has(doc_id)) texts.set(text_hash, embeddedText(title, heading, text))
  for (const page of plan.pages)
    for (const [i, { heading, text }] of page.chunks.entries())
      texts.set(page.text_hashes[i] ?? '', embeddedText(page.title, heading, text))
  return texts
}

const keyOf = (source: string, path: string): string => `${source}\n${path}`

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
