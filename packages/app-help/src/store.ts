/** Help's state: the documentation as it is searched, and the build that keeps it up to date. Both live in workers. */
import type { Env } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import {
  type CallOptions,
  type RestingWorkers,
  restingWorkers,
  SharedWorker,
  startWorker,
  type WorkerLink,
  workerFile,
} from '@causeway/worker'
import type { BuildMethods } from './build-worker.ts'
import type { Lines, PageName, PageText } from './search/questions.ts'
import type { SearchAnswer, SearchRequest } from './search/search.ts'
import type { SearchMethods } from './search-worker.ts'
import { type HelpSettings, readSettings } from './settings.ts'
import type { BuildReport, DocRow, IndexFacts, Scope } from './storage.ts'

/** What a build under way has done. */
export interface BuildProgress {
  readonly done: number
  readonly total: number | null
  readonly message: string
}

/** The documentation, shared by every client. */
export interface Help {
  readonly settings: HelpSettings
  /** All of these wait for the first index, a little, and throw `HELP_NOT_BUILT` without one. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>
  page(name: PageName, lines: Lines, scope: Scope): Promise<PageText>
  pages(scope: Scope): Promise<readonly DocRow[]>
  facts(): Promise<IndexFacts>
  /** True where there is an index; waits for none. */
  isBuilt(): Promise<boolean>
  /** The build of this server that is under way. */
  building(): BuildProgress | undefined
  /** Looks for new and changed pages now; the same build for everybody who asks while it runs. */
  build(): Promise<BuildReport>
  /** The memory of the worker that searches. */
  readonly memory: RestingWorkers
  health(): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

/** How long after the start pages are looked for, ms: the server is healthy and has answered its first clients then. */
const startDelayMs = 1500
/** How long a question waits for the first index, ms. */
const firstIndexMs = 15_000
/** How often the index is looked at for what another process has built, ms. */
const watchMs = 2000

/** Opens the documentation in the data folder; returns before anything is read. Throws `HELP_SOURCE_INVALID`. */
export async function openHelp({ dir, settings: values, log, newId, changed }: Env): Promise<Help> {
  const settings = readSettings(values, process.cwd())
  const storage = { dir, databaseUrl: settings.databaseUrl }
  const state: {
    builder?: WorkerLink<BuildMethods>
    build?: Promise<BuildReport>
    progress?: BuildProgress
    failure?: CausewayError
    revision?: number
    /** The index cannot be read, and the next build begins anew. */
    isHarmed?: boolean
    isClosed: boolean
  } = { isClosed: false }
  /** Who waits for an index to appear. */
  const waiting = new Set<() => void>()

  const worker = new SharedWorker<SearchMethods>(async () => {
    if (state.isClosed) throw new CausewayError('CANCELLED', 'the server is stopping')
    const link = startWorker<SearchMethods>(workerFile('search-worker', import.meta.url), {
      name: 'the worker that searches the documentation',
    })
    // Its failure is that of the calls that follow.
    link.call('setUp', { storage, embedding: settings.embedding }).catch(() => undefined)
    return link
  })

  /** Sees whether another index answers now and tells it: ours, or one that another process has built. */
  const look = async (): Promise<number> => {
    const revision = await worker.call('revision', undefined)
    if (state.revision !== undefined && state.revision !== revision) {
      changed.resources()
      // Another process may have replaced the damaged index.
      if (state.build === undefined) delete state.isHarmed
    }
    state.revision = revision
    if (revision > 0) for (const wake of waiting) wake()
    return revision
  }

  const build = (): Promise<BuildReport> => {
    clearTimeout(delay)
    state.build ??= runBuild().finally(() => {
      delete state.build
      delete state.progress
    })
    return state.build
  }
  const runBuild = async (): Promise<BuildReport> => {
    const builder = startWorker<BuildMethods>(workerFile('build-worker', import.meta.url), {
      name: 'the worker that indexes the documentation',
    })
    state.builder = builder
    state.progress = { done: 0, total: null, message: 'starting' }
    const { sources, size, embedding } = settings
    const request = { sources, size, embedding, rebuild: state.isHarmed === true, holder: newId() }
    try {
      await look()
      const report = await builder.call('build', { storage, request }, { progress: follow })
      delete state.failure
      delete state.isHarmed
      log.info(
        { ...report, failed: report.failed.length, warnings: report.warnings.length },
        'documentation indexed',
      )
      return report
    } finally {
      await builder.stop()
      delete state.builder
      if (!state.isClosed) await look()
    }
  }
  const follow: NonNullable<CallOptions['progress']> = (done, total, message = '') => {
    const before = state.progress?.message
    state.progress = { done, total: total ?? null, message }
    // A step that has just begun may have published what the one before it made.
    if (before !== message) look().catch(() => undefined)
  }
  const buildBehind = (): void => {
    build().catch((error: unknown) => {
      if (state.isClosed) return
      if (error instanceof Error && 'code' in error) state.failure = error as CausewayError
      log.warn({ err: error }, 'the documentation could not be indexed')
    })
  }

  const delay = settings.autoBuild ? setTimeout(buildBehind, startDelayMs) : undefined
  delay?.unref()
  const watch = setInterval(() => {
    if (worker.link !== undefined) look().catch(() => undefined)
  }, watchMs)
  watch.unref()

  /** Done when an index is there, or after a while without one. */
  const appearance = (): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(limit)
        waiting.delete(done)
        resolve()
      }
      const limit = setTimeout(done, firstIndexMs)
      waiting.add(done)
    })

  /** Waits until there is an index; a first question does not wait for the delay of the start. */
  const waitForIndex = async (): Promise<void> => {
    if ((state.revision ?? 0) > 0 || (await look()) > 0) return
    if (settings.autoBuild && state.failure === undefined && state.build === undefined) buildBehind()
    if (state.build === undefined) throw notBuilt(state.failure)
    await Promise.race([appearance(), state.build.catch(() => undefined)])
    if ((await look()) === 0) throw notBuilt(state.failure)
  }

  /** Asks; an index that turns out to be harmed is made anew, where this server builds. */
  const asking = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      await waitForIndex()
      return await ask()
    } catch (error) {
      if (!isCausewayError(error) || error.code !== 'DATA_DAMAGED') throw error
      // Only an index can be rebuilt; help.db names the index.
      if (error.data.file === 'help.db') throw error
      state.isHarmed = true
      if (settings.autoBuild && state.build === undefined) buildBehind()
      const remedy = settings.autoBuild
        ? 'the index is being made anew: ask again in a while'
        : 'run npm run help:rebuild, or restore it from a backup'
      throw new CausewayError('DATA_DAMAGED', error.message, { remedy, data: error.data, cause: error })
    }
  }

  return {
    settings,
    search: (request, signal) => asking(() => worker.call('search', request, { signal })),
    page: (name, lines, scope) => asking(() => worker.call('page', { name, lines, scope })),
    pages: (scope) => asking(() => worker.call('pages', scope)),
    facts: () => asking(() => worker.call('facts', undefined)),
    isBuilt: async () => (state.revision ?? 0) > 0 || (await look()) > 0,
    building: () => state.progress,
    build,
    memory: restingWorkers(() => [worker.link]),
    async health() {
      const isBuilt = (state.revision ?? 0) > 0
      const facts = isBuilt ? await worker.link?.call('facts', undefined) : undefined
      return {
        ...(facts === undefined ? { docs: null } : describe(facts, settings.internal)),
        ...(state.isHarmed === true && {
          status: 'failed',
          reason: 'DATA_DAMAGED',
          message: 'the index of the documentation is damaged',
        }),
        indexing: state.progress ?? null,
        failure:
          state.failure === undefined ? null : { code: state.failure.code, message: state.failure.message },
      }
    },
    async close() {
      state.isClosed = true
      clearTimeout(delay)
      clearInterval(watch)
      const build = state.build?.catch(() => undefined)
      await Promise.all([state.builder?.kill(), worker.stop()])
      await build
    },
  }
}

function describe({ docs, items, internal_docs, space, revision, built_ms }: IndexFacts, internal: boolean) {
  return {
    docs: internal ? docs : docs - internal_docs,
    ...(internal ? { items, internal_docs } : {}),
    revision,
    built_ms,
    mode: space === undefined ? 'lexical' : 'hybrid',
    embedding_space: space ?? null,
  }
}

const notBuilt = (failure: CausewayError | undefined): CausewayError =>
  new CausewayError(
    'HELP_NOT_BUILT',
    failure === undefined
      ? 'no documentation is indexed yet'
      : `no documentation is indexed, since the build failed: ${failure.message}`,
    failure === undefined ? {} : { remedy: failure.remedy, data: { code: failure.code } },
  )
