import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import Database from 'better-sqlite3'
import root, { type Test } from 'tap'
import replay from '../src/index.ts'
import type { ReplayStore } from '../src/store/store.ts'

export const fixtures = new URL('../../../fixtures/recordings/', import.meta.url).pathname

export interface OpenReplay {
  readonly app: TestApp
  /** The only allowed root. */
  readonly folder: string
  client(options?: { shared?: boolean }): TestClient
}

export interface KitOptions {
  /** Changes the copied recordings before they are opened. */
  readonly change?: (db: Database.Database) => void
  /** Wraps or changes the store. */
  readonly wrap?: (store: ReplayStore) => ReplayStore
  /** Folder of the recordings. Default: the fixtures. */
  readonly source?: string
}

/** Opens Replay with copies of recordings. `old/drop` is a copy of `drop` in the folder `old`. */
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
    open: async (env: Parameters<typeof replay.open>[0]) => wrap((await replay.open(env)) as ReplayStore),
  }
  const app = await openForTest(wrapped, {
    dir: join(dir, 'data'),
    roots: makeRoots(() => [folder], 'CAUSEWAY_RECORDING_ROOTS'),
  })
  t.teardown(() => app.close())
  return { app, folder, client: (options) => app.client(options) }
}

/** Records a run from lines and returns a client that has loaded it. */
export async function recordRun(
  { app, client }: OpenReplay,
  name: string,
  lines: readonly object[],
): Promise<TestClient> {
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  await (app.store as ReplayStore).recorder.write(name, body())
  const one = client()
  await one.call('load_recording', { path: name })
  return one
}

/** Returns the findings with a severity above info. */
export async function listFaults(client: TestClient): Promise<Record<string, unknown>[]> {
  const { findings } = await client.call('diagnose', { max_findings: 200 })
  return toRows(findings).filter(({ severity }) => severity !== 'info')
}

/** Changes a database, with foreign keys off, because healthy recordings violate them. */
export function edit(file: string, change: (db: Database.Database) => void): void {
  const db = new Database(file)
  db.pragma('foreign_keys = OFF')
  change(db)
  db.close()
}

/** Opens Replay with the committed recordings, once for all tests of a file. */
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

/** Returns a client that has loaded a recording, or a changed copy of it. */
export async function ask(t: Test, name: string, options?: KitOptions): Promise<TestClient> {
  const client =
    options === undefined ? (await committed()).client() : (await openReplay(t, [name], options)).client()
  await client.call('load_recording', { path: name })
  return client
}

export const toRows = (value: unknown): Record<string, unknown>[] => value as Record<string, unknown>[]

/** Returns an empty string for binary contents. */
export async function readText(client: TestClient, uri = ''): Promise<string> {
  const contents = await client.read(uri)
  return 'text' in contents ? contents.text : ''
}

/** Records lines as a run on a new server. Returns a client that has loaded it. */
export async function recordLines(t: Test, lines: readonly object[]): Promise<TestClient> {
  const { app, client } = await openReplay(t, [])
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  await (app.store as ReplayStore).recorder.write('run', body())
  const one = client()
  await one.call('load_recording', { path: 'run' })
  return one
}
