/** Documentation for a test: folders, an index, and queries without workers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openForTest, type TestApp } from '@causeway/app-kit/testing'
import type { Test } from 'tap'
import { type BuildRequest, build } from '../src/build/build.ts'
import { readSources, type Source } from '../src/build/source.ts'
import { defaultSize } from '../src/domain/chunk.ts'
import type { EmbeddingSettings } from '../src/embedding.ts'
import help from '../src/index.ts'
import { Queries } from '../src/search/queries.ts'
import { Reader } from '../src/search/reader.ts'
import type { SearchAnswer, SearchRequest } from '../src/search/search.ts'
import { openSqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import type { BuildReport, HelpStorage, Scope } from '../src/storage/types.ts'
import type { Help } from '../src/store.ts'

/** Files by path: `docs/a.md` is a public page, and `docs_dev/a.md` is an internal page. */
export type Files = Readonly<Record<string, string>>

export interface Library {
  /** Folder that contains `docs` and `docs_dev`. */
  readonly folder: string
  readonly data: string
  readonly sources: readonly Source[]
  readonly storage: HelpStorage
  readonly questions: Queries
  write(files: Files): void
  build(options?: Partial<BuildRequest>): Promise<BuildReport>
  ask(text: string, options?: Partial<SearchRequest>): Promise<SearchAnswer>
}

/** Scopes of public pages only, and of all pages. */
export const everybody: Scope = { internal: false }
export const insiders: Scope = { internal: true }

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Creates the folders of a test and a data folder, without building an index. */
export function library(
  t: Test,
  files: Files = {},
  {
    embedding = { provider: 'lsa' },
    open,
  }: { embedding?: EmbeddingSettings; open?: (dir: string) => HelpStorage } = {},
): Library {
  const folder = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  const data = join(folder, 'data')
  writeFiles(folder, files)
  const sources = readSources(['docs=docs', 'internal:docs_dev=docs_dev'], folder)
  const storage = (open ?? openSqliteStorage)(data)
  const reader = new Reader(storage, embedding)
  t.teardown(() => reader.close())
  const questions = new Queries(storage, reader)
  return {
    folder,
    data,
    sources,
    storage,
    questions,
    write: (more) => writeFiles(folder, more),
    build: (options = {}) =>
      build(
        { sources, size: defaultSize, embedding, rebuild: false, holder: 'test', ...options },
        { storage, now: Date.now, signal: new AbortController().signal, progress() {} },
      ),
    ask: (text, options = {}) =>
      questions.search(
        {
          text,
          top_n: 10,
          chunks_per_result: 3,
          mode: 'hybrid',
          scope: everybody,
          max_chars: 20_000,
          ...options,
        },
        new AbortController().signal,
      ),
  }
}

export const withMethods = <T extends object>(target: T, methods: Partial<T>): T =>
  new Proxy(target, {
    get(_, name) {
      if (name in methods) return Reflect.get(methods, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Returns the paths of the results with their sources, best first. */
export const listPaths = ({ results }: SearchAnswer): string[] =>
  results.map(({ source, file_path }) => `${source}/${file_path}`)

export interface OpenedApp {
  readonly app: TestApp
  readonly store: Help
  readonly folder: string
  readonly log: string[]
}

export interface AppOptions {
  readonly settings?: object
  readonly pages?: Files
  readonly now?: () => number
}

export async function openApp(
  t: Test,
  { settings = {}, pages = {}, now = Date.now }: AppOptions,
): Promise<OpenedApp> {
  const folder = t.testdir({ docs: {}, docs_dev: {}, data: {} })
  writeFiles(folder, pages)
  const log: string[] = []
  const write = (fields: object, message: string) => void log.push(`${JSON.stringify(fields)} ${message}`)
  const app = await openForTest(help, {
    dir: join(folder, 'data'),
    settings: {
      helpSources: [`docs=${join(folder, 'docs')}`, `internal:docs_dev=${join(folder, 'docs_dev')}`],
      ...settings,
    },
    now,
    log: { debug: write, info: write, warn: write, error: write },
  })
  t.teardown(() => app.close())
  return { app, store: app.store as Help, folder, log }
}
