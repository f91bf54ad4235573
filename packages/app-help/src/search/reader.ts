import type { Embedder } from '@causeway/embed'
import { toDataError } from '@causeway/store'
import { type EmbeddingSettings, openEmbedder } from '../embedding.ts'
import { HelpError } from '../errors.ts'
import type { HelpStorage } from '../storage/types.ts'
import { CooldownEmbedder } from './cooldown-embedder.ts'
import type { Searchable } from './search.ts'

interface ReaderState extends Searchable {
  readonly revision: number
  users: number
  isOld: boolean
}

/** Holds the newest index and its embedder open. Running queries continue with the previous index. */
export class Reader {
  readonly #storage: HelpStorage
  readonly #settings: EmbeddingSettings
  /** Shared by all indexes to reuse connections and cached queries. */
  readonly #endpoint: Embedder | undefined
  #current: ReaderState | undefined
  #openPromise: Promise<void> | undefined

  constructor(
    storage: HelpStorage,
    settings: EmbeddingSettings,
    now: () => number = () => performance.now(),
  ) {
    this.#storage = storage
    this.#settings = settings
    const endpoint = settings.provider === 'openai' ? openEmbedder(settings, undefined) : undefined
    this.#endpoint = endpoint && new CooldownEmbedder(endpoint, now)
  }

  /** Runs a query on the newest index. Throws `HELP_NOT_BUILT` without an index. */
  async use<T>(work: (state: Searchable) => Promise<T>): Promise<T> {
    if (this.#current?.revision !== (await this.#storage.readRevision())) {
      this.#openPromise ??= this.#openNewest().finally(() => {
        this.#openPromise = undefined
      })
      await this.#openPromise
    }
    const state = this.#current
    if (state === undefined) throw new HelpError('HELP_NOT_BUILT', 'no documentation is indexed yet')
    state.users++
    try {
      return await work(state)
    } catch (error) {
      throw toDataError(error, `index-${state.revision}.db`)
    } finally {
      state.users--
      await this.#release(state)
    }
  }

  async close(): Promise<void> {
    await this.#retire(this.#current)
    this.#current = undefined
    await this.#endpoint?.close()
    await this.#storage.close()
  }

  async #openNewest(): Promise<void> {
    const index = await this.#storage.open()
    if (index === undefined) return
    const settings = this.#settings
    const embedder = this.#endpoint ?? openEmbedder(settings, await index.readSpaceModel())
    const previous = this.#current
    const { revision } = index.facts
    this.#current = { index, embedder, settings, revision, users: 0, isOld: false }
    await this.#retire(previous)
  }

  async #retire(state: ReaderState | undefined): Promise<void> {
    if (state === undefined) return
    state.isOld = true
    await this.#release(state)
  }

  async #release(state: ReaderState): Promise<void> {
    if (!state.isOld || state.users > 0) return
    await state.index.close()
    if (state.embedder !== this.#endpoint) await state.embedder?.close()
  }
}
