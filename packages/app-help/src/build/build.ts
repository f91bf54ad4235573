import { requireSameSpace } from '@causeway/embed'
import { StoreError } from '@causeway/store'
import type { ChunkSize } from '../domain/chunk.ts'
import { makeEmbeddedText } from '../domain/index-text.ts'
import { type EmbeddingSettings, getWantedSpace } from '../embedding.ts'
import { HelpError } from '../errors.ts'
import type {
  BuildLock,
  BuildReport,
  Edition,
  HelpIndex,
  HelpStorage,
  IndexFacts,
  KnownPage,
} from '../storage/types.ts'
import { type BuildCall, makeVectors, type Texts, type VectorResult } from './make-vectors.ts'
import { type BasePage, formatChunking, type Plan, planFiles } from './plan.ts'
import type { SkippedFile, Source } from './source.ts'

export interface BuildOptions {
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  /** Whether to start from an empty index, which allows different chunking rules and vectors. */
  readonly rebuild: boolean
  readonly holder: string
}

export interface BuildRequest extends BuildOptions {
  readonly sources: readonly Source[]
  /** Unusable entries of the sources setting, for the report. */
  readonly failedSources?: readonly SkippedFile[]
  /** The default, `internal`, includes all pages. */
  readonly edition?: Edition
}

export interface BuildContext extends BuildCall {
  readonly storage: HelpStorage
  /** The public edition. The internal edition contains its pages with the same ids. */
  readonly base?: HelpStorage
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/**
 * Builds and publishes an index, parsing only changed files. A failure does not affect the published index. Throws
 * `HELP_BUILD_RUNNING`, `HELP_CHUNKING_CHANGED` and `EMBEDDING_SPACE_MISMATCH` (both only without `rebuild`),
 * `CANCELLED`, and errors of the embedder.
 */
export async function build(request: BuildRequest, context: BuildContext): Promise<BuildReport> {
  const { sources, failedSources = [], size, edition = 'internal' } = request
  const [first] = failedSources
  if (sources.length === 0 && first !== undefined) {
    const message = `no configured documentation source can be used: ${first.reason}`
    throw new HelpError('HELP_SOURCE_INVALID', message)
  }
  const includedSources = sources.filter(({ is_internal }) => !is_internal || edition === 'internal')
  const base = await context.base?.open()
  try {
    const basePages = base && (await readBase(base, context.base))
    const knownPages = await context.storage.listKnownPages().catch(() => [])
    const rebuild = request.rebuild || requiresRebuild(knownPages, edition, basePages)
    return await buildFromPlan({ ...request, rebuild }, context, (knownPages) =>
      planFiles(includedSources, size, knownPages, {
        ...context,
        edition,
        base: basePages,
        failedSources,
        refetch: request.rebuild && basePages === undefined,
      }),
    )
  } finally {
    await base?.close()
  }
}

async function readBase(index: HelpIndex, storage: HelpStorage | undefined): Promise<BasePage[]> {
  const scope = { internal: false }
  const pages = (await storage?.listKnownPages()) ?? []
  return pages
    .filter(({ is_internal }) => !is_internal)
    .map((page) => ({ ...page, readBody: async () => (await index.readBody(page.doc_id, scope)) ?? '' }))
}

/** Whether the index contains pages or ids that only a rebuild removes completely. */
function requiresRebuild(
  knownPages: readonly KnownPage[],
  edition: Edition,
  base: readonly BasePage[] = [],
): boolean {
  if (edition === 'public') return knownPages.some(({ is_internal }) => is_internal)
  const ids = new Map(base.map(({ source, file_path, doc_id }) => [`${source}\n${file_path}`, doc_id]))
  return knownPages.some(({ source, file_path, doc_id, is_internal }) => {
    const id = ids.get(`${source}\n${file_path}`)
    return id !== undefined && !is_internal && id !== doc_id
  })
}

export async function buildFromPlan(
  options: BuildOptions,
  context: BuildContext,
  plan: (knownPages: readonly KnownPage[]) => Promise<Plan>,
): Promise<BuildReport> {
  const { storage } = context
  const lock = await storage.lock(options.holder)
  try {
    const report = await buildWithLock(options, context, { plan, lock }).catch((error: unknown) => {
      if (options.rebuild || !isDamaged(error)) throw error
      return buildWithLock({ ...options, rebuild: true }, context, { plan, lock })
    })
    await storage.saveReport(report)
    return report
  } finally {
    await lock.release()
  }
}

async function buildWithLock(
  options: BuildOptions,
  context: BuildContext,
  { plan: makePlan, lock }: { plan: (knownPages: readonly KnownPage[]) => Promise<Plan>; lock: BuildLock },
): Promise<BuildReport> {
  const { storage, now, progress } = context
  const { rebuild, embedding } = options
  const startedMs = now()
  const index = await storage.open().catch((error: unknown) => {
    if (rebuild && isDamaged(error)) return undefined
    throw error
  })
  const facts = index?.facts
  await index?.close()
  const chunking = formatChunking(options.size)
  if (facts !== undefined && !rebuild) requireSameRules(facts, chunking, embedding)

  const plan = await makePlan(rebuild ? [] : await storage.listKnownPages())
  await lock.renew()
  const report = (result: Pick<VectorResult, 'embedded' | 'reused'>, revision: number): BuildReport => ({
    ...plan.counts,
    embedded: result.embedded,
    reused: result.reused,
    failed: plan.failed,
    warnings: plan.warnings,
    revision,
    ms: now() - startedMs,
  })
  const isUnchanged = plan.pages.length === 0 && plan.removed.length === 0
  const lacksVectors = facts?.space === undefined && embedding.provider !== 'none' && (facts?.items ?? 0) > 0
  if (facts !== undefined && !rebuild && isUnchanged && !lacksVectors)
    return report({ embedded: 0, reused: facts.items }, facts.revision)

  const change = { fresh: rebuild, removed: plan.removed, pages: plan.pages, chunking }
  if (facts === undefined) {
    // Queries can use the lexical index before the vectors exist.
    progress(0, undefined, 'writing the first index')
    await storage.publish({ ...change, vectors: undefined })
  }
  // Waits for renewals, because a renewal after the release would take the lock again.
  let renewals = Promise.resolve()
  const result = await makeVectors(await collectTexts(storage, plan, rebuild), embedding, storage, {
    ...context,
    progress(...progressArguments) {
      progress(...progressArguments)
      // The next awaited renewal detects a lost lock.
      renewals = renewals.then(() => lock.renew()).catch(() => undefined)
    },
  }).finally(() => renewals)
  await lock.renew()
  progress(0, undefined, 'writing the index')
  const remaining = facts === undefined ? { ...change, fresh: false, removed: [], pages: [] } : change
  return report(result, await storage.publish({ ...remaining, vectors: result.vectors }))
}

const isDamaged = (error: unknown): boolean => StoreError.is(error, 'DATA_DAMAGED')

function requireSameRules(
  { chunking, space }: IndexFacts,
  configuredChunking: string,
  embedding: EmbeddingSettings,
): void {
  if (chunking !== configuredChunking)
    throw new HelpError(
      'HELP_CHUNKING_CHANGED',
      `the index has pieces of ${chunking}, not ${configuredChunking}`,
      {
        data: { stored: chunking, configured: configuredChunking },
      },
    )
  if (space !== undefined) requireSameSpace(space, getWantedSpace(embedding))
}

async function collectTexts(storage: HelpStorage, plan: Plan, rebuild: boolean): Promise<Texts> {
  const texts = new Map<string, string>()
  // Removed texts must not affect the LSA vocabulary.
  const removed = new Set([...plan.removed, ...plan.replaced])
  for (const { doc_id, text_hash, title, heading, text } of rebuild ? [] : await storage.listEmbeddedItems())
    if (!removed.has(doc_id)) texts.set(text_hash, makeEmbeddedText(title, heading, text))
  for (const page of plan.pages)
    for (const [i, { heading, text }] of page.chunks.entries())
      texts.set(page.text_hashes[i] ?? '', makeEmbeddedText(page.title, heading, text))
  return texts
}
