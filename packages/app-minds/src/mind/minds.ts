import type { Cache, Env } from '@causeway/app-kit'
import { hash32 } from '../domain/random.ts'
import { MindsError } from '../errors.ts'
import { type Limits, limitsSchema, mindIdPattern } from '../limits.ts'
import { LanguageModels } from '../llm/language-models.ts'
import { DailySearch } from '../memory/daily-search.ts'
import { MemoryCache } from '../memory/memory-cache.ts'
import { openEmbedding } from '../memory/open-embedding.ts'
import { addMissingVectors, getWeights, type RecallResult, recall } from '../memory/recall.ts'
import { RelationsFile } from '../memory/relations-file.ts'
import { VectorSearch } from '../memory/vector-search.ts'
import { createMind } from '../store/create-mind.ts'
import { MindsFile, type Tables } from '../store/minds-file.ts'
import { loadMind, saveMind } from '../store/save-mind.ts'
import type { MindRow } from '../store/types.ts'
import { type MindConfig, readConfig, requestedEmbedding } from '../wire/read-config.ts'
import { readSave, requireSaveable, type SavedMind } from '../wire/read-save.ts'
import { ChangeNotifier } from './change-notifier.ts'
import type { DecisionResult } from './commit-decision.ts'
import { type ConsolidationResult, consolidateMind } from './consolidate.ts'
import { type DecideRequest, Decider } from './decide.ts'
import { MindQueue } from './mind-queue.ts'
import type { MindServices } from './services.ts'

interface MindRequest {
  readonly mind_id: string
  readonly request_id: string
}

interface CreateRequest extends MindRequest {
  readonly config: unknown
  readonly entity_id?: string | undefined
  readonly if_exists?: string | undefined
}

interface ImportRequest extends Omit<CreateRequest, 'config' | 'mind_id'> {
  readonly save: unknown
  /** Default: the id in the save. */
  readonly mind_id?: string | undefined
}

const bytesPerMebibyte = 1024 ** 2

export class Minds {
  readonly #services: MindServices
  readonly #file: MindsFile
  readonly #decider: Decider
  readonly #changes: ChangeNotifier
  #decisionCount = 0

  /** Throws `INVALID_CONFIG` for invalid limits or model settings. */
  constructor(env: Env) {
    const { dir, settings, log } = env
    const limits = readLimits(settings.mindsLimits)
    const durability = settings.mindsDurability === 'full' ? 'full' : 'normal'
    const file = new MindsFile({ dir, now: env.now, monotonicNow: env.monotonicNow, limits, durability })
    const now = (): number => performance.now()
    this.#file = file
    this.#changes = new ChangeNotifier((mindId) => env.changed.resource(`mind://${mindId}/state`))
    this.#services = {
      file,
      queue: new MindQueue(limits.concurrent_decisions, now),
      embedding: openEmbedding(settings, file),
      search: new VectorSearch(dir, (...args) => file.iterateVectors(...args), limits),
      cache: new MemoryCache(file, limits.memory_cache_bytes),
      daily: new DailySearch(),
      relations: new RelationsFile(),
      models: new LanguageModels(settings, { file, now: env.now }),
      limits,
      log,
      now,
      markChanged: (mindId) => this.#changes.markChanged(mindId),
    }
    this.#decider = new Decider(this.#services, (mindId) => this.#consolidateFull(mindId))
  }

  async create({ mind_id, request_id, config: configInput, entity_id, if_exists }: CreateRequest) {
    const { models, limits, embedding, log } = this.#services
    const id = validateId(mind_id)
    const rawConfig = typeof configInput === 'object' && configInput !== null ? configInput : {}
    const { config, warnings } = readConfig(
      if_exists === undefined ? configInput : { ...rawConfig, if_exists },
      limits,
    )
    if (config.selector === 'llm') models.find(config, id)
    const entityId = entity_id ?? config.entity_id ?? id
    const mind = { mind_id: id, entity_id: entityId, config, rng_seed: config.seed ?? hash32(id) }
    const result = await this.#change({ mind_id, request_id }, 'create_mind', (tables) => {
      const { resumed, seededCount } = createMind(tables, mind, limits)
      return {
        status: 'created',
        mind_id: id,
        message: null,
        entity_id: entityId,
        resumed,
        seeded_count: seededCount,
        selector_effective: this.getEffectiveSelector(config),
        embedding_model_requested: config.embedding_model ?? requestedEmbedding,
        embedding_model_effective: embedding.name,
        ...(warnings.length === 0 ? {} : { warnings }),
      }
    })
    log.info({ mind_id: id, entity_id: entityId, resumed: result.resumed }, 'mind created')
    // Preloads. If this fails, the first decision reports the error.
    this.#services.relations.get().catch(() => undefined)
    if (result.seeded_count > 0) this.#embedSeeds(id)
    return result
  }

  /** Throws `MIND_NOT_FOUND` and `LIMIT_EXCEEDED`. */
  export(mindId: string): Promise<SavedMind> {
    const { limits } = this.#services
    return this.#enqueue(validateId(mindId), () =>
      this.#file.read((tables) => {
        const mind = tables.minds.get(mindId)
        requireSaveable(mind.memory_count + mind.daily_count, limits)
        return saveMind(tables, mind)
      }),
    )
  }

  /** Throws `INVALID_SAVE`, `INVALID_CONFIG`, `MIND_EXISTS` and `LIMIT_EXCEEDED`. */
  async import({ save: saveInput, mind_id, entity_id, if_exists, request_id }: ImportRequest) {
    const { limits } = this.#services
    const save = readSave(saveInput, limits)
    const id = validateId(mind_id ?? save.mind_id)
    const { config } = readConfig(save.config, limits)
    const entityId = entity_id ?? save.entity_id
    const target = { mind_id: id, entity_id: entityId, config, isReplacing: if_exists === 'replace' }
    const result = await this.#change({ mind_id: id, request_id }, 'import_mind', (tables) => {
      loadMind(tables, save, target, limits)
      return {
        mind_id: id,
        entity_id: entityId,
        daily_memories_count: save.daily_memories.length,
        long_term_memory_count: save.long_term_memories.length,
      }
    })
    if (save.long_term_memories.length > 0) this.#embedSeeds(id)
    return result
  }

  async decide(request: DecideRequest): Promise<DecisionResult> {
    const result = await this.#decider.decide({ ...request, mind_id: validateId(request.mind_id) })
    this.#decisionCount += 1
    return result
  }

  consolidate({ mind_id, request_id }: MindRequest, progress: DecideRequest['progress']) {
    const request = { mind_id, request_id, tool: 'consolidate_memories' }
    return this.#enqueue(validateId(mind_id), async () => {
      const storedResult = await this.#file.read(({ records }) =>
        records.findAnswer<ConsolidationResult>(request),
      )
      if (storedResult !== undefined) return storedResult
      const result = await consolidateMind(mind_id, request_id, this.#services, progress)
      this.#services.log.info({ mind_id, count: result.consolidated_count }, 'memories consolidated')
      return this.#file.runOnce(request, () => result)
    })
  }

  cleanup({ purge, ...request }: MindRequest & { readonly purge: boolean }) {
    return this.#change(request, 'cleanup_mind', ({ minds }) => ({
      existed: purge ? minds.remove(request.mind_id) : minds.release(request.mind_id),
    }))
  }

  forget(request: MindRequest) {
    return this.#change(request, 'forget_mind', ({ minds }) => ({ existed: minds.remove(request.mind_id) }))
  }

  relink({ entity_id, ...request }: MindRequest & { readonly entity_id: string }) {
    return this.#change(request, 'relink_mind', ({ minds }) => ({
      previous_entity_id: minds.relink(request.mind_id, entity_id).entity_id,
    }))
  }

  list(after: string, limit: number): Promise<readonly MindRow[]> {
    return this.#file.read(({ minds }) => minds.list(after, limit))
  }

  /** Throws `MIND_NOT_FOUND`. */
  read<T>(mindId: string, work: (tables: Tables, mind: MindRow) => T): Promise<T> {
    return this.#file.read((tables) => work(tables, tables.minds.get(mindId)))
  }

  async recall(mindId: string, query: string, k: number): Promise<RecallResult> {
    const mind = await this.read(mindId, (_, mind) => mind)
    const weights = { ...getWeights(mind), per_query: k, most: k }
    return recall(mind, [query], { now: mind.last_sim_time, weights, includesToday: true }, this.#services)
  }

  getEffectiveSelector(config: MindConfig): 'llm' | 'policy' {
    return this.#services.models.canDecide(config) ? 'llm' : 'policy'
  }

  caches(): readonly Cache[] {
    const { search, embedding, daily, cache, limits } = this.#services
    const { memory_cache_bytes, vector_cache_bytes } = limits
    const otherCacheBytes = 128 * bytesPerMebibyte
    return [
      { name: 'stems', costMs: 5, isInHeap: true, maxBytes: otherCacheBytes, ...bindCache(daily) },
      { name: 'memories', costMs: 10, isInHeap: true, maxBytes: memory_cache_bytes, ...bindCache(cache) },
      {
        name: 'vectors',
        costMs: 15,
        isInHeap: false,
        maxBytes: vector_cache_bytes,
        ...bindCache(search.cache),
      },
      {
        name: 'vector_worker',
        costMs: 120,
        isInHeap: false,
        // The vectors and the heap of the worker.
        maxBytes: vector_cache_bytes + otherCacheBytes,
        ...search.worker,
      },
      { name: 'texts', costMs: 250, isInHeap: false, maxBytes: otherCacheBytes, ...bindCache(embedding) },
    ]
  }

  health(): Readonly<Record<string, unknown>> {
    const { queue, models, embedding, search, cache } = this.#services
    return {
      ...this.#file.readStats(),
      decisions_total: this.#decisionCount,
      queue_depth: queue.depth,
      llm: models.health(),
      embedding: embedding.name,
      vector_bytes: search.cache.bytes(),
      memory_bytes: cache.bytes(),
    }
  }

  async close(): Promise<void> {
    const { queue, models, search, embedding } = this.#services
    await queue.idle()
    this.#changes.close()
    await models.close()
    await search.close()
    await embedding.close()
    this.#file.close()
  }

  #enqueue<T>(mindId: string, work: () => Promise<T>): Promise<T> {
    const { queue, limits } = this.#services
    return queue.run(mindId, limits.queue, work)
  }

  #change<T extends object>(request: MindRequest, tool: string, work: (tables: Tables) => T): Promise<T> {
    return this.#enqueue(validateId(request.mind_id), () => this.#file.runOnce({ ...request, tool }, work))
  }

  #consolidateFull(mindId: string): void {
    this.#enqueue(mindId, () => consolidateMind(mindId, 'overflow', this.#services)).catch((error: unknown) =>
      this.#services.log.warn(
        { mind_id: mindId, err: error },
        'the daily memories could not be consolidated',
      ),
    )
  }

  #embedSeeds(mindId: string): void {
    const embedAll = async (): Promise<void> => {
      const mind = await this.read(mindId, (_, mind) => mind)
      while ((await addMissingVectors(mind, this.#services)) === 'more');
    }
    this.#enqueue(mindId, embedAll).catch((error: unknown) =>
      this.#services.log.warn({ mind_id: mindId, err: error }, 'initial memories have no vectors yet'),
    )
  }
}

const bindCache = (cache: Pick<Cache, 'bytes' | 'shrink'>): Pick<Cache, 'bytes' | 'shrink'> => ({
  bytes: () => cache.bytes(),
  shrink: (bytes) => cache.shrink(bytes),
})

function validateId(mindId: string): string {
  if (mindIdPattern.test(mindId)) return mindId
  throw new MindsError('INVALID_MIND_ID', `not a mind id: ${JSON.stringify(mindId).slice(0, 150)}`, {
    data: { form: mindIdPattern.source },
  })
}

function readLimits(limitsInput: unknown): Limits {
  const parsed = limitsSchema.safeParse(limitsInput ?? {})
  if (parsed.success) return parsed.data
  throw new MindsError('INVALID_CONFIG', `CAUSEWAY_MINDS_LIMITS: ${parsed.error.issues[0]?.message}`)
}
