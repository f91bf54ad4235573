/** Opens Trm with copies of the small projects and additional files. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import type { Test } from 'tap'
import trm from '../src/index.ts'
import type { Critic } from '../src/session/critic.ts'

export const projects = new URL('../../../fixtures/projects/', import.meta.url).pathname

/** The system's interpreter if it exists, because it starts faster than interpreters of version managers. */
export const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'

/** The tests of the committed Python projects. */
export const unittest = `${python} -m unittest`

/** A test command with four tests. The file `score` determines how many pass. */
export const judge = `n=$(cat score); echo "TAP version 13"; for i in 1 2 3 4; do [ $i -le $n ] && echo "ok $i t$i" || echo "not ok $i t$i"; done; echo 1..4; [ $n -ge 4 ]`

export const judged = { 'p/score': '1\n', 'p/other.txt': 'other\n' }

/** Returns a candidate that makes this many tests of `judge` pass. */
export const scored = (score: number): object => ({
  mode: 'files',
  files: [{ path: 'score', content: `${score}\n` }],
})

// biome-ignore lint/suspicious/noExplicitAny: each test accesses different fields
export type Data = Record<string, any>

export interface Speaker {
  ask(tool: string, args?: object, options?: { signal?: AbortSignal }): Promise<Data>
  readonly client: TestClient
}

export interface OpenTrm {
  readonly app: TestApp
  readonly critic: Critic
  /** The only root. */
  readonly root: string
  readonly dataDir: string
  client(): Speaker
}

export interface KitOptions {
  /** Names of committed projects to copy. */
  readonly copies?: readonly string[]
  /** Additional files below the root, by path. */
  readonly files?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, unknown>>
}

export async function openTrm(
  t: Test,
  { copies = [], files = {}, settings = {} }: KitOptions = {},
): Promise<OpenTrm> {
  findClosers(t)
  const dir = t.testdir({ root: {}, data: {} })
  const root = join(dir, 'root')
  for (const name of copies) cpSync(join(projects, name), join(root, name), { recursive: true })
  for (const [path, text] of Object.entries(files)) write(join(root, path), text)
  return reopenTrm(t, { root, dataDir: join(dir, 'data'), settings })
}

const closers = new WeakMap<Test, (() => Promise<void>)[]>()

/**
 * Returns the functions that close the apps of a test. Call it before `testdir`, whose teardown removes the folder.
 */
function findClosers(t: Test): (() => Promise<void>)[] {
  const known = closers.get(t)
  if (known !== undefined) return known
  const made: (() => Promise<void>)[] = []
  closers.set(t, made)
  t.teardown(async () => {
    for (const close of made.reverse()) await close()
  })
  return made
}

/** Opens Trm with existing data, as a restart of the server does. */
export async function reopenTrm(
  t: Test,
  {
    root,
    dataDir,
    settings = {},
  }: { root: string; dataDir: string; settings?: Readonly<Record<string, unknown>> },
): Promise<OpenTrm> {
  const ids = { last: 0 }
  const app = await openForTest(trm, {
    dir: dataDir,
    settings: { trmRoots: [root], trmParallel: 2, trmCommands: 'any', ...settings },
    now: Date.now,
    newId: () => `id-${process.hrtime.bigint()}-${++ids.last}`,
  })
  findClosers(t).push(() => app.close())
  const client = (): Speaker => {
    const one = app.client()
    return {
      client: one,
      ask: (tool, args = {}, options = {}) => one.call(tool, { ...findDetails(tool), ...args }, options),
    }
  }
  return { app, critic: app.store as Critic, root, dataDir, client }
}

/** Requests all fields of a result. */
const findDetails = (tool: string) => (['start', 'submit', 'state'].includes(tool) ? { details: true } : {})

export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

export const readText = (...parts: string[]): string => readFileSync(join(...parts), 'utf8')

export const replacing = (file: string, oldText: string, newText: string) => ({
  mode: 'modify',
  changes: [{ file, edits: [{ type: 'replace', oldText, newText }] }],
})

export const repairSums = replacing('sums.py', 'len(values) + 1', 'len(values)')
