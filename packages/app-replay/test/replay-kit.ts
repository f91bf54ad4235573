/** Opening Replay over copies of the fixtures, changed where a test needs it. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import Database from 'better-sqlite3'
import root, { type Test } from 'tap'
import replay from '../src/index.ts'
import type { Replay } from '../src/store.ts'

/** Folder of the committed recordings. */
export const fixtures = new URL('../../../fixtures/recordings/', import.meta.url).pathname

/** Replay over a folder of recordings. */
export interface OpenReplay {
  readonly app: TestApp
  /** the only root */
  readonly folder: string
  client(options?: { shared?: boolean }): TestClient
}

/** What a test may change. */
export interface KitOptions {
  /** changes a copy before it is loaded */
  readonly change?: (db: Database.Database) => void
  /** stands between Replay and its store */
  readonly wrap?: (store: Replay) => Replay
  /** where the recordings come from; default: the fixtures */
  readonly source?: string
}

/** Opens Replay over copies of these recordings (`drop`, `old/drop`: the file named last, put there). */
export async function openReplay(
  t: Test,
  names: readonly string[],
  { change, wrap = (store) => store, source = fixtures }: KitOptions = {},
): Promise<OpenReplay> {
  const dir = t.testdir({ recordings: {} })
  const folder = join(dir, 'recordings')
  for (const name of names) {
    const file = join(folder, `${name}.db`)
    mkdirSync(dirname(file), { recursive: true })
    copyFileSync(join(source, `${name.split('/').at(-1)}.db`), file)
    if (change !== undefined) edit(file, change)
  }
  const wrapped = {
    ...replay,
    open: async (env: Parameters<typeof replay.open>[0]) => wrap((await replay.open(env)) as Replay),
  }
  const app = await openForTest(wrapped, {
    dir: join(dir, 'data'),
    roots: makeRoots(() => [folder], 'CAUSEWAY_RECORDING_ROOTS'),
  })
  t.teardown(() => app.close())
  return { app, folder, client: (options) => app.client(options) }
}

/** Changes a recording file. Keys are off: healthy recordings break them. */
export function edit(file: string, change: (db: Database.Database) => void): void {
  const db = new Database(file)
  db.pragma('foreign_keys = OFF')
  change(db)
  db.close()
}

/** Replay over the committed recordings, opened once for a test file by the first test that only reads. */
const committed = once(async (): Promise<TestApp> => {
  const app = await openForTest(replay, {
    dir: root.testdir(),
    roots: makeRoots(() => [fixtures], 'CAUSEWAY_RECORDING_ROOTS'),
  })
  root.teardown(() => app.close())
  return app
})

function once<Value>(make: () => Value): () => Value {
  const made: Value[] = []
  return () => {
    if (made.length === 0) made.push(make())
    return made[0] as Value
  }
}

/** A client of its own over one recording, which is its active one: a copy where the test changes something. */
export async function ask(t: Test, name: string, options?: KitOptions): Promise<TestClient> {
  const client =
    options === undefined ? (await committed()).client() : (await openReplay(t, [name], options)).client()
  await client.call('load_recording', { path: name })
  return client
}

/** A list of an answer. */
export const rowsOf = (value: unknown): Record<string, unknown>[] => value as Record<string, unknown>[]

/** The text of a resource; one of bytes, or none, has none. */
export async function textOf(client: TestClient, uri = ''): Promise<string> {
  const contents = await client.read(uri)
  return 'text' in contents ? contents.text : ''
}
