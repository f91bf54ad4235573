import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Env } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import {
  type CallOptions,
  resolveWorkerFile,
  SharedWorker,
  WorkerLink,
  type WorkerMemory,
} from '@causeway/worker'
import type { BuildRequest } from './build/build.ts'
import type { BuildMethods } from './build/build-worker.ts'
import { HelpError } from './errors.ts'
import type { Lines, PageName, PageText } from './search/queries.ts'
import type { SearchAnswer, SearchRequest } from './search/search.ts'
import type { SearchMethods } from './search/search-worker.ts'
import { type HelpSettings, readSettings } from './settings.ts'
import { makeHolder } from './storage/lock-holder.ts'
import type { BuildReport, DocRow, IndexFacts, Scope } from './storage/types.ts'

export interface BuildProgress {
  readonly done: number
  readonly total: number | null
  readonly message: string
}

const startDelayMs = 1500
/** Maximum time that a query waits for the first index. */
const firstIndexTimeoutMs = 15_000
/** Interval of checks for builds of other processes. */
const watchIntervalMs = 2000
/** Idle time after which the search worker (about 40 MB) stops. */
const idleTimeoutMs = 5 * 60_000

/**
 * The documentation, shared by all clients. Queries wait for the first index, and throw `HELP_NOT_BUILT` after a
 * timeout.
 */
export class Help {
  readonly settings: HelpSettings
  readonly memory: WorkerMemory
  readonly #env: Env
  readonly #id: string
  readonly #storage: { readonly dir: string; readonly databaseUrl: string | undefined }
  readonly #search: SharedWorker<SearchMethods>
  readonly #startTimer: NodeJS.Timeout | undefined
  readonly #watchTimer: NodeJS.Timeout
  readonly #waiters = new Set<() => void>()
  #builder: WorkerLink<BuildMethods> | undefined
  #build: Promise<BuildReport> | undefined
  #progress: BuildProgress | undefined
  #failure: CausewayError | undefined
  /** Revision of the published index, or `undefined` before the first check. */
  #revision: number | undefined
  #publishedMs: number | undefined
  #facts: IndexFacts | undefined
  /** Whether the index is unreadable, so that the next build starts from an empty index. */
  #isDamaged = false
  #isClosed = false
  #lastQueryMs = 0

  constructor(env: Env) {
    this.#env = env
    this.#id = env.newId()
    this.settings = readSettings(env.settings, { cwd: process.cwd(), dir: env.dir })
    this.#storage = { dir: env.dir, databaseUrl: this.settings.databaseUrl }
    this.#search = new SharedWorker(async () => this.#startSearch())
    this.memory = this.#search.memory
    if (this.settings.autoBuild)
      this.#startTimer = setTimeout(() => this.#buildInBackground(), startDelayMs).unref()
    this.#watchTimer = setInterval(() => void this.#watch().catch(() => undefined), watchIntervalMs).unref()
  }

  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    return this.#query(() => this.#search.call('search', request, { signal }), request.scope)
  }

  readPage(name: PageName, lines: Lines, scope: Scope): Promise<PageText> {
    return this.#query(() => this.#search.call('readPage', { name, lines, scope }), scope)
  }

  listPages(scope: Scope): Promise<readonly DocRow[]> {
    return this.#query(() => this.#search.call('listPages', scope), scope)
  }

  facts(): Promise<IndexFacts> {
    return this.#query(() => this.#search.call('readFacts', undefined))
  }

  /** Returns immediately, without waiting for an index. */
  async isBuilt(): Promise<boolean> {
    return (this.#revision ?? 0) > 0 || (await this.#checkRevision()) > 0
  }

  getBuildProgress(): BuildProgress | undefined {
    return this.#progress
  }

  /** Concurrent callers share one build. */
  build(): Promise<BuildReport> {
    clearTimeout(this.#startTimer)
    this.#build ??= this.#runBuild().finally(() => {
      this.#build = undefined
      this.#progress = undefined
    })
    return this.#build
  }

  async health(): Promise<Readonly<Record<string, unknown>>> {
    const isBuilt = (this.#revision ?? 0) > 0
    const facts = isBuilt
      ? ((await this.#search.link?.call('readFacts', undefined)) ?? this.#facts)
      : undefined
    const failure = this.#failure
    return {
      ...(facts === undefined ? { docs: null } : describeIndex(facts)),
      ...(this.#isDamaged && {
        status: 'failed',
        reason: 'DATA_DAMAGED',
        message: 'the index of the documentation is damaged',
      }),
      indexing: this.#progress ?? null,
      failure: failure === undefined ? null : { code: failure.code, message: failure.message },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#startTimer)
    clearInterval(this.#watchTimer)
    const build = this.#build?.catch(() => undefined)
    await Promise.all([this.#builder?.kill(), this.#search.stop()])
    await build
  }

  #startSearch(): WorkerLink<SearchMethods> {
    if (this.#isClosed) throw new CausewayError('CANCELLED', 'the server is stopping')
    const link = new WorkerLink<SearchMethods>(resolveWorkerFile('search/search-worker', import.meta.url), {
      name: 'the worker that searches the documentation',
    })
    const { embedding, internal } = this.settings
    const setup = { storage: this.#storage, embedding, internal }
    // If this fails, the following calls fail with the same error.
    link.call('setUp', setup).catch(() => undefined)
    return link
  }

  async #checkRevision(): Promise<number> {
    this.#publishedMs = this.#readPublishedMs()
    const builder = this.#builder?.isAlive ? this.#builder : undefined
    const revision =
      builder === undefined || this.#search.link !== undefined
        ? await this.#search.call('readRevision', undefined)
        : await builder.call('readRevision', this.#storage)
    if (this.#revision !== undefined && this.#revision !== revision) {
      this.#env.changed.resources()
      // Another process may have replaced the damaged index.
      if (this.#build === undefined) this.#isDamaged = false
    }
    this.#revision = revision
    if (revision > 0) for (const wake of this.#waiters) wake()
    return revision
  }

  async #runBuild(): Promise<BuildReport> {
    const builder = new WorkerLink<BuildMethods>(resolveWorkerFile('build/build-worker', import.meta.url), {
      name: 'the worker that indexes the documentation',
    })
    this.#builder = builder
    this.#progress = { done: 0, total: null, message: 'starting' }
    const { size, embedding } = this.settings
    const holder = makeHolder(this.#id)
    const request = { ...this.settings.listSources(), size, embedding, rebuild: this.#isDamaged, holder }
    const progress: NonNullable<CallOptions['progress']> = (...progressArguments) =>
      this.#followBuild(...progressArguments)
    try {
      await this.#checkRevision()
      if (!this.settings.internal) await builder.call('deleteInternal', this.#storage)
      const report = await builder.call('build', { storage: this.#storage, request }, { progress })
      this.#progress = undefined
      this.#facts = await builder.call('readFacts', this.#storage)
      this.#failure = undefined
      this.#isDamaged = false
      this.#env.log.info(
        { ...report, failed: report.failed.length, warnings: report.warnings.length },
        'documentation indexed',
      )
      for (const failure of report.failed) this.#env.log.warn(failure, 'not indexed')
      if (this.settings.internal) await this.#buildInternal(builder, request)
      return report
    } finally {
      try {
        if (!this.#isClosed) await this.#checkRevision()
      } finally {
        await builder.stop()
        this.#builder = undefined
      }
    }
  }

  /** Only logs failures, because callers without access to internal pages must not see them. */
  async #buildInternal(builder: WorkerLink<BuildMethods>, request: BuildRequest): Promise<void> {
    const storage = { ...this.#storage, edition: 'internal' } as const
    await builder.call('build', { storage, request }).catch((error: unknown) => {
      if (!this.#isClosed)
        this.#env.log.warn({ err: error }, 'the internal documentation could not be indexed')
    })
  }

  #followBuild(done: number, total?: number, message = ''): void {
    const isNewStep = this.#progress?.message !== message
    this.#progress = { done, total: total ?? null, message }
    // The previous step may have published an index.
    if (isNewStep) this.#checkRevision().catch(() => undefined)
  }

  #buildInBackground(): void {
    this.build().catch((error: unknown) => {
      if (this.#isClosed) return
      if (error instanceof Error && 'code' in error) this.#failure = error as CausewayError
      this.#env.log.warn({ err: error }, 'the documentation could not be indexed')
    })
  }

  async #watch(): Promise<void> {
    if (this.#revision === undefined) return
    const link = this.#search.link
    if (this.#storage.databaseUrl === undefined) {
      if (link === undefined && this.#readPublishedMs() === this.#publishedMs) return
      if (link !== undefined && this.#readMonotonicMs() - this.#lastQueryMs > idleTimeoutMs) {
        this.#facts = await link.call('readFacts', undefined)
        await this.memory.shrink(Number.POSITIVE_INFINITY)
        return
      }
    }
    await this.#checkRevision()
  }

  #readPublishedMs(): number | undefined {
    return statSync(join(this.#storage.dir, 'help'), { throwIfNoEntry: false })?.mtimeMs
  }

  #readMonotonicMs(): number {
    const { monotonicNow, now } = this.#env
    return (monotonicNow ?? now)()
  }

  /** Waits for a running build if the scope's edition does not exist yet. */
  async #runWhenBuilt<T>(run: () => Promise<T>, scope: Scope | undefined): Promise<T> {
    try {
      return await run()
    } catch (error) {
      const build = this.#build
      if (scope?.internal !== true || build === undefined || !HelpError.is(error, 'HELP_NOT_BUILT'))
        throw error
      await Promise.race([wait(firstIndexTimeoutMs, undefined, { ref: false }), build.catch(() => undefined)])
      return run()
    }
  }

  /** Runs a query. For a damaged index, throws and, if `autoBuild` is on, starts a rebuild. */
  async #query<T>(run: () => Promise<T>, scope?: Scope): Promise<T> {
    this.#lastQueryMs = this.#readMonotonicMs()
    try {
      await this.#waitForIndex()
      return await this.#runWhenBuilt(run, scope)
    } catch (error) {
      if (!StoreError.is(error, 'DATA_DAMAGED')) throw error
      // A rebuild replaces a damaged index, but not help.db, which names the index.
      if (error.data.file === 'help.db') throw error
      this.#isDamaged = true
      const { autoBuild } = this.settings
      if (autoBuild && this.#build === undefined) this.#buildInBackground()
      const remedy = autoBuild
        ? 'the index is being rebuilt: repeat the call in a few seconds'
        : 'run npm run help:rebuild, or restore it from a backup'
      throw new StoreError('DATA_DAMAGED', error.message, { remedy, data: error.data, cause: error })
    }
  }

  /** Waits for the first index. Starts its build if necessary, without the initial delay. */
  async #waitForIndex(): Promise<void> {
    if ((this.#revision ?? 0) > 0 || (await this.#checkRevision()) > 0) return
    if (this.settings.autoBuild && this.#failure === undefined && this.#build === undefined)
      this.#buildInBackground()
    if (this.#build === undefined) throw createNotBuiltError(this.#failure)
    await Promise.race([this.#waitForRevision(), this.#build.catch(() => undefined)])
    if ((await this.#checkRevision()) === 0) throw createNotBuiltError(this.#failure)
  }

  #waitForRevision(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timeout)
        this.#waiters.delete(wake)
        resolve()
      }
      const timeout = setTimeout(wake, firstIndexTimeoutMs)
      this.#waiters.add(wake)
    })
  }
}

/** Describes the public edition. Indexes of earlier versions also contain internal pages. */
function describeIndex({ docs, internal_docs, space, revision, built_ms }: IndexFacts) {
  return {
    docs: docs - internal_docs,
    revision,
    built_ms,
    mode: space === undefined ? 'lexical' : 'hybrid',
    embedding_space: space ?? null,
  }
}

const createNotBuiltError = (failure: CausewayError | undefined): CausewayError =>
  new HelpError(
    'HELP_NOT_BUILT',
    failure === undefined
      ? 'no documentation is indexed yet'
      : `no documentation is indexed, since the build failed: ${failure.message}`,
    failure === undefined ? {} : { remedy: failure.remedy, data: { code: failure.code } },
  )
