/** Documentation of a test: folders, an index of them, and questions to it, without workers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { type BuildRequest, build } from '../src/build/build.ts'
import { readSources, type Source } from '../src/build/source.ts'
import { defaultSize } from '../src/domain/chunk.ts'
import type { EmbeddingSettings } from '../src/embedding.ts'
import { makeQuestions, type Questions } from '../src/search/questions.ts'
import { openReader } from '../src/search/reader.ts'
import type { SearchAnswer, SearchRequest } from '../src/search/search.ts'
import { openSqliteStorage } from '../src/sqlite/sqlite-storage.ts'
import type { BuildReport, HelpStorage, Scope } from '../src/storage.ts'

/** Files by path: `docs/a.md` is a page of the public source, `docs_dev/a.md` one of the internal source. */
export type Files = Readonly<Record<string, string>>

/** The documentation of one test. */
export interface Library {
  /** Holds `docs` and `docs_dev`. */
  readonly folder: string
  readonly data: string
  readonly sources: readonly Source[]
  readonly storage: HelpStorage
  readonly questions: Questions
  write(files: Files): void
  build(options?: Partial<BuildRequest>): Promise<BuildReport>
  ask(text: string, options?: Partial<SearchRequest>): Promise<SearchAnswer>
}

/** Pages that may be seen by everybody, and all pages. */
export const everybody: Scope = { internal: false }
export const insiders: Scope = { internal: true }

/** Writes files below a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Makes the folders of a test and an index beside them; nothing is built yet. */
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
  const reader = openReader(storage, embedding)
  t.teardown(() => reader.close())
  const questions = makeQuestions(storage, reader)
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

/** Paths of the pages of an answer with their source, best first. */
export const pathsOf = ({ results }: SearchAnswer): string[] =>
  results.map(({ source, file_path }) => `${source}/${file_path}`)
