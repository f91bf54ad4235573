/**
 * Makes the next index: looks at every file of the sources, cuts only what has changed, and publishes the whole at once.
 * What fails before that changes nothing for those who search.
 */
import { requireSameSpace } from '@causeway/embed'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { ChunkSize } from '../domain/chunk.ts'
import { embeddedText } from '../domain/index-text.ts'
import { type EmbeddingSettings, wantedSpace } from '../embedding.ts'
import type { BuildLock, BuildReport, HelpStorage, IndexFacts, KnownPage } from '../storage.ts'
import { type BuildCall, type MadeVectors, makeVectors, type Texts } from './make-vectors.ts'
import { chunkingName, type Plan, planFiles } from './plan.ts'
import type { Source } from './source.ts'

/** How an index is made, whatever its pages come from. */
export interface Making {
  readonly size: ChunkSize
  readonly embedding: EmbeddingSettings
  /** Starts from nothing, which also changes how pages are cut or which vectors they have. */
  readonly rebuild: boolean
  /** Names this build in the lock. */
  readonly holder: string
}

/** What is built. */
export interface BuildRequest extends Making {
  readonly sources: readonly Source[]
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
export const build = (request: BuildRequest, tools: BuildTools): Promise<BuildReport> =>
  make(request, tools, (known) => planFiles(request.sources, request.size, known, tools))

/** The same for any plan, which is made under the lock. */
export async function make(
  making: Making,
  tools: BuildTools,
  plan: (known: readonly KnownPage[]) => Promise<Plan>,
): Promise<BuildReport> {
  const { storage } = tools
  const lock = await storage.lock(making.holder)
  try {
    const report = await makeLocked(making, tools, { plan, lock }).catch((error: unknown) => {
      // Everything that an index has comes of the sources: one that is harmed is made anew.
      if (making.rebuild || !isHarmed(error)) throw error
      return makeLocked({ ...making, rebuild: true }, tools, { plan, lock })
    })
    await storage.saveReport(report)
    return report
  } finally {
    await lock.release()
  }
}

async function makeLocked(
  making: Making,
  tools: BuildTools,
  { plan: makePlan, lock }: { plan: (known: readonly KnownPage[]) => Promise<Plan>; lock: BuildLock },
): Promise<BuildReport> {
  const { storage, now, progress } = tools
  const { rebuild, embedding } = making
  const started = now()
  const index = await storage.open().catch((error: unknown) => {
    if (rebuild && isHarmed(error)) return undefined
    throw error
  })
  const facts = index?.facts
  await index?.close()
  const chunking = chunkingName(making.size)
  if (facts !== undefined && !rebuild) refuseMixing(facts, chunking, embedding)

  const plan = await makePlan(rebuild ? [] : await storage.known())
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
  const isSame = plan.pages.length === 0 && plan.removed.length === 0
  const lacksVectors = facts?.space === undefined && embedding.provider !== 'none' && (facts?.items ?? 0) > 0
  if (facts !== undefined && !rebuild && isSame && !lacksVectors)
    return report({ embedded: 0, reused: facts.items }, facts.revision)

  const change = { fresh: rebuild, removed: plan.removed, pages: plan.pages, chunking }
  if (facts === undefined) {
    // Whoever asks meanwhile gets answers by words, before there are vectors.
    progress(0, undefined, 'writing the first index')
    await storage.publish({ ...change, vectors: undefined })
  }
  const made = await makeVectors(await textsOf(storage, plan, rebuild), embedding, storage, {
    ...tools,
    progress(...done) {
      progress(...done)
      // A lock that is lost shows at the next renewal that is waited for.
      lock.renew().catch(() => undefined)
    },
  })
  await lock.renew()
  progress(0, undefined, 'writing the index')
  const rest = facts === undefined ? { ...change, fresh: false, removed: [], pages: [] } : change
  return report(made, await storage.publish({ ...rest, vectors: made.vectors }))
}

const isHarmed = (error: unknown): boolean => isCausewayError(error) && error.code === 'DATA_DAMAGED'

function refuseMixing(
  { chunking, space }: IndexFacts,
  configured: string,
  embedding: EmbeddingSettings,
): void {
  if (chunking !== configured)
    throw new CausewayError(
      'HELP_CHUNKING_CHANGED',
      `the index has pieces of ${chunking}, not ${configured}`,
      {
        data: { stored: chunking, configured },
      },
    )
  if (space !== undefined) requireSameSpace(space, wantedSpace(embedding))
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
