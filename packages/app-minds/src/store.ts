/** The minds of a server: one file, a queue for each mind, one space of vectors, and the models that may be asked. */

import { type Cache, type Env, numberSetting } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { mindsCaches } from './caches.ts'
import { hash32 } from './domain/random.ts'
import { type Limits, limitsSchema, mindIdPattern } from './limits.ts'
import { openModels } from './llm/open-models.ts'
import { type EmbeddingOptions, openEmbedding } from './memory/open-embedding.ts'
import { embedOld, type Recollections, recall, weightsOf } from './memory/recall.ts'
import { memoryShelf } from './memory/shelf.ts'
import { daySearch } from './memory/today.ts'
import { openVectorSearch } from './memory/vector-search.ts'
import { type ConsolidationAnswer, consolidateMind } from './mind/consolidate.ts'
import { type DecideRequest, decider } from './mind/decide.ts'
import type { DecisionAnswer } from './mind/decision-answer.ts'
import { type PacedChanges, pacedChanges } from './mind/paced-changes.ts'
import type { MindParts } from './mind/parts.ts'
import { mindQueue } from './mind-queue.ts'
import type { Made } from './store/create-mind.ts'
import { openMindsFile } from './store/minds-file.ts'
import type { Usage } from './store/record-table.ts'
import type { MemoryRow, MindRow, ReflectionRow, StoredConversation, StoredDecision } from './store/types.ts'
import { type MindConfig, readConfig, requestedEmbedding } from './wire/read-config.ts'

/** A call that changes a mind, by its id. */
export interface MindRequest {
  readonly mind_id: string
  readonly request_id: string
}

/** What `create_mind` answers. */
export interface CreateAnswer {
  readonly status: 'created'
  readonly mind_id: string
  readonly message: string | null
  readonly entity_id: string
  readonly resumed: boolean
  readonly seeded_count: number
  readonly selector_effective: 'llm' | 'policy'
  readonly embedding_model_requested: string
  readonly embedding_model_effective: string
  readonly warnings?: readonly string[]
  readonly replayed?: boolean
}

/** Everything that tools and resources ask. */
export interface Minds {
  create(
    request: MindRequest & {
      readonly config: unknown
      readonly entity_id?: string | undefined
      readonly if_exists?: string | undefined
    },
  ): Promise<CreateAnswer>
  decide(request: DecideRequest): Promise<DecisionAnswer>
  consolidate(request: MindRequest, progress: DecideRequest['progress']): Promise<ConsolidationAnswer>
  cleanup(
    request: MindRequest & { readonly purge: boolean },
  ): Promise<{ existed: boolean; replayed?: boolean }>
  forget(request: MindRequest): Promise<{ existed: boolean; replayed?: boolean }>
  relink(
    request: MindRequest & { readonly entity_id: string },
  ): Promise<{ previous_entity_id: string; replayed?: boolean }>
  list(after: string, limit: number): Promise<readonly MindRow[]>
  mind(mindId: string): Promise<MindRow>
  recall(mindId: string, query: string, k: number): Promise<Recollections>
  /** What a mind has concluded and holds now, the weightiest first. */
  reflections(mindId: string, limit: number): Promise<readonly ReflectionRow[]>
  /** Id of a reflection -> ids of the memories that it rests on. */
  evidence(reflectionIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  daily(mindId: string): Promise<readonly MemoryRow[]>
  memories(mindId: string, limit: number): Promise<readonly MemoryRow[]>
  conversations(mindId: string): Promise<readonly StoredConversation[]>
  decision(mindId: string, requestId: string | null): Promise<StoredDecision | undefined>
  usage(mindId: string): Promise<Usage>
  selectorOf(config: MindConfig): 'llm' | 'policy'
  /** What can be given back of the memory: vectors of this thread and of the worker, vectors and stems of texts. */
  readonly caches: readonly Cache[]
  health(): Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** Opens the minds in the data folder; throws `INVALID_CONFIG` for limits that are none. */
export async function openMinds(env: Env): Promise<Minds> {
  const limits = readLimits(env.settings.mindsLimits)
  const file = openMindsFile({
    dir: env.dir,
    now: env.now,
    steady: env.steady,
    limits,
    durability: env.settings.mindsDurability === 'full' ? 'full' : 'normal',
  })
  const changes = pacedChanges((mindId) => env.changed.resource(`mind://${mindId}/state`))
  const parts: MindParts = {
    file,
    queue: mindQueue(limits.concurrent_decisions, () => performance.now()),
    embedding: openEmbedding(embeddingOptions(env.settings), file),
    search: openVectorSearch(env.dir, (...args) => file.vectors(...args), limits),
    shelf: memoryShelf(file, limits.memory_cache_bytes),
    day: daySearch(),
    models: openModels(env.settings, { file, limits, now: env.now }),
    limits,
    log: env.log,
    now: () => performance.now(),
    changed: changes.tell,
  }
  return mindsOver(parts, changes)
}

/** Minds over parts that are open. */
function mindsOver(parts: MindParts, changes: PacedChanges): Minds {
  const { file, queue, limits, models, embedding, search, shelf, log } = parts
  const figures = { decisions: 0 }
  const turn = <T>(mindId: string, work: () => Promise<T>): Promise<T> =>
    queue.run(mindId, limits.queue, work)
  const selectorOf = (config: MindConfig): 'llm' | 'policy' => (models.usableFor(config) ? 'llm' : 'policy')
  const consolidate = (mindId: string, batchId: string, progress?: DecideRequest['progress']) =>
    consolidateMind(mindId, batchId, parts, progress)
  /** The safety valve: a mind that nobody lets sleep does so by itself. */
  const onFull = (mindId: string): void => {
    turn(mindId, () => consolidate(mindId, 'overflow')).catch((error: unknown) =>
      log.warn({ mind_id: mindId, err: error }, 'the daily memories could not be consolidated'),
    )
  }
  const decide = decider({ ...parts, onFull })
  /** Vectors for seeds, behind the answer and before the first decision, which waits for its turn. */
  const prepareSeeds = (mindId: string): void => {
    const all = async (): Promise<void> => {
      const mind = await file.mind(mindId)
      while ((await embedOld(mind, parts)) === 'more');
    }
    turn(mindId, all).catch((error: unknown) =>
      log.warn({ mind_id: mindId, err: error }, 'seeds have no vectors yet'),
    )
  }
  return {
    async create({ mind_id, request_id, config: given, entity_id, if_exists }) {
      const id = checkedId(mind_id)
      const raw = typeof given === 'object' && given !== null ? given : {}
      const { config, warnings } = readConfig(if_exists === undefined ? given : { ...raw, if_exists }, limits)
      // Insisting on a model where there is none is told now, not at the first decision.
      if (config.selector === 'llm') models.selectorFor(config, id)
      if (config.selector === 'llm' && !models.usableFor(config))
        throw new CausewayError('LLM_NOT_CONFIGURED', 'no language model is configured')
      const body = entity_id ?? config.entity_id ?? id
      const mind = { mind_id: id, entity_id: body, config, rng_seed: config.seed ?? hash32(id) }
      const answer = (made: Made): CreateAnswer => ({
        status: 'created',
        mind_id: id,
        message: null,
        entity_id: body,
        resumed: made.resumed,
        seeded_count: made.seeded,
        selector_effective: selectorOf(config),
        embedding_model_requested: config.embedding_model ?? requestedEmbedding,
        embedding_model_effective: embedding.name,
        ...(warnings.length === 0 ? {} : { warnings }),
      })
      const answered = await turn(id, () =>
        file.create({ mind_id: id, request_id, tool: 'create_mind' }, mind, answer),
      )
      log.info({ mind_id: id, entity_id: body, resumed: answered.resumed }, 'mind created')
      if (answered.seeded_count > 0) prepareSeeds(id)
      return answered
    },
    async decide(request) {
      const answer = await decide({ ...request, mind_id: checkedId(request.mind_id) })
      figures.decisions += 1
      return answer
    },
    consolidate: ({ mind_id, request_id }, progress) =>
      turn(checkedId(mind_id), async () => {
        const request = { mind_id, request_id, tool: 'consolidate_memories' }
        const earlier = await file.answered(mind_id, request_id, request.tool)
        if (earlier !== undefined) return { ...(earlier as ConsolidationAnswer), replayed: true }
        const answer = await consolidate(mind_id, request_id, progress)
        log.info({ mind_id, count: answer.consolidated_count }, 'memories consolidated')
        return file.once(request, () => answer)
      }),
    cleanup: ({ mind_id, request_id, purge }) =>
      turn(checkedId(mind_id), () =>
        file.once({ mind_id, request_id, tool: 'cleanup_mind' }, (inside) => ({
          existed: purge ? inside.remove(mind_id) : inside.release(mind_id),
        })),
      ),
    forget: ({ mind_id, request_id }) =>
      turn(checkedId(mind_id), () =>
        file.once({ mind_id, request_id, tool: 'forget_mind' }, (inside) => ({
          existed: inside.remove(mind_id),
        })),
      ),
    relink: ({ mind_id, request_id, entity_id }) =>
      turn(checkedId(mind_id), () =>
        file.once({ mind_id, request_id, tool: 'relink_mind' }, (inside) => ({
          previous_entity_id: inside.relink(mind_id, entity_id).entity_id,
        })),
      ),
    list: (after, limit) => file.list(after, limit),
    mind: (mindId) => file.mind(mindId),
    async recall(mindId, query, k) {
      const mind = await file.mind(mindId)
      const weights = { ...weightsOf(mind), per_query: k, most: k }
      return recall(mind, [query], { now: mind.last_sim_time, weights, withToday: true }, parts)
    },
    reflections: async (mindId, limit) => file.reflections((await file.mind(mindId)).seq, limit),
    evidence: (reflectionIds) => file.evidence(reflectionIds),
    daily: async (mindId) => file.daily((await file.mind(mindId)).seq),
    memories: async (mindId, limit) => file.newest((await file.mind(mindId)).seq, limit),
    conversations: (mindId) => file.conversations(mindId),
    decision: (mindId, requestId) => file.decision(mindId, requestId),
    usage: async (mindId) => file.usage((await file.mind(mindId)).seq, 0, null),
    selectorOf,
    caches: mindsCaches(parts),
    health: () => ({
      ...file.figures(),
      decisions_total: figures.decisions,
      queue_depth: queue.depth,
      llm: models.health(),
      embedding: embedding.name,
      vector_bytes: search.bytes,
      memory_bytes: shelf.bytes,
    }),
    async close() {
      await queue.idle()
      changes.stop()
      await models.close()
      await search.close()
      await embedding.close()
      file.close()
    },
  }
}

/** The id if it has the form of one; throws `INVALID_MIND_ID`. */
function checkedId(mindId: string): string {
  if (mindIdPattern.test(mindId)) return mindId
  throw new CausewayError('INVALID_MIND_ID', `not a mind id: ${JSON.stringify(mindId).slice(0, 150)}`, {
    data: { form: mindIdPattern.source },
  })
}

function readLimits(given: unknown): Limits {
  const parsed = limitsSchema.safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw new CausewayError('INVALID_CONFIG', `CAUSEWAY_MINDS_LIMITS: ${parsed.error.issues[0]?.message}`)
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const embeddingOptions = (settings: Env['settings']): EmbeddingOptions => ({
  url: text(settings.mindsEmbeddingsUrl),
  model: text(settings.mindsEmbeddingsModel),
  dimensions: numberSetting(settings, 'mindsEmbeddingsDimensions'),
  apiKey: text(settings.mindsEmbeddingsKey),
})
