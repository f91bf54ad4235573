/** Tests both engines of the lake: DuckDB, and ClickHouse with the same files. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { clientProgram } from '../../../test/downloads/clients.mjs'
import { requirePackages } from '../../../test/downloads/optional.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { ClickHouseLake, DuckDbLake, type LakeQuery, type RecordingLibrary } from '../src/index.ts'
import { folders, libraryOver } from './library-kit.ts'

t.setTimeout(120_000)

const skip = requirePackages('duckdb')
const options = { signal: new AbortController().signal }

interface Body {
  readonly id: number
  readonly position: readonly number[]
  readonly velocity: readonly number[]
}

const createContacts = (i: number): readonly object[] => [
  { a: 1, b: 2, normal: [1, 0, 0], depth: i === 29 ? 0.02 : 0.001 * (i % 3), points: [] },
]

/** Records a run of two bodies with a solver. */
async function record(
  library: RecordingLibrary,
  name: string,
  {
    commit = null,
    scenario = '',
    speed = () => 1,
    contacts = createContacts,
  }: {
    commit?: string | null
    scenario?: string
    speed?: (frame: number) => number
    contacts?: (index: number) => readonly object[] | undefined
  },
): Promise<void> {
  const run = {
    run: {
      ...(commit === null ? {} : { commit }),
      scenario,
      bodies: [
        { id: 1, mass: 1 },
        { id: 2, mass: 1 },
      ],
    },
  }
  const frames = Array.from({ length: 50 }, (_, i) => {
    const bodies: readonly Body[] = [1, 2].map((id) => ({
      id,
      position: [id, 0, i / 100],
      velocity: [0, 0, id === 1 ? speed(i + 1) : 0.5],
    }))
    return {
      frame_id: i + 1,
      time: (i + 1) / 100,
      bodies,
      contacts: contacts(i),
      solver: { iterations: 5 + (i % 11), residual: 1e-6, converged: true },
    }
  })
  const bytes = Buffer.from([run, ...frames].map((line) => `${JSON.stringify(line)}\n`).join(''))
  await library.recorder.write(
    name,
    (async function* () {
      yield bytes
    })(),
  )
  await library.recorder.finish(name)
}

const listLakeRuns = ({ recorder }: RecordingLibrary) =>
  recorder.listRuns().map(({ name }) => ({
    file: recorder.findFile(name) ?? '',
    recording: name,
    name: `${name}-1`,
  }))

async function fillLake(t: Test) {
  const { files, data, more } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await record(library, 'good', { commit: 'c1', scenario: 'stack', speed: () => 1 })
  await record(library, 'fast', { commit: 'c2', scenario: 'stack', speed: (i) => (i >= 40 ? 5000 : 1) })
  await record(library, 'odd-name', { commit: null, scenario: "it's", speed: (i) => i })
  const lake = new DuckDbLake(more)
  await lake.list()
  const list = listLakeRuns(library)
  await lake.export(list, options)
  for (const name of readdirSync(more, { recursive: true, encoding: 'utf8' }))
    t.equal(statSync(join(more, name)).mode & 0o077, 0, `${name} is private`)
  return { lake, library, folder: more, list }
}

const query = (question: string, more: Partial<LakeQuery> = {}): LakeQuery => ({
  question,
  filter: {},
  threshold: undefined,
  limit: 10,
  deadlineMs: 20_000,
  ...more,
})

verifies(
  'recording:lake:questions',
  'a depth is 0 without contacts, and not known without contact data',
  async (t) => {
    if (skip !== false) return void t.pass('DuckDB', { skip })
    const { files, data, more } = folders(t)
    const library = await libraryOver(t, files, { dir: data })
    await record(library, 'apart', { contacts: () => [] })
    await record(library, 'unknown', { contacts: () => undefined })
    const lake = new DuckDbLake(more)
    await lake.list()
    await lake.export(listLakeRuns(library), options)
    const { rows } = await lake.runQuery(query('worst_depth', { threshold: -1 }), options)
    t.match(rows, [{ recording: 'apart', max_depth_m: 0, frames_above: 50 }])
    t.equal(rows.length, 1)
  },
)

const questions: readonly LakeQuery[] = [
  query('blew_up'),
  query('blew_up', { threshold: 20 }),
  query('blew_up', { threshold: 20, filter: { scenario: "it's" } }),
  query('worst_depth'),
  query('worst_depth', { limit: 1, filter: { scenario: 'stack' } }),
  query('worst_depth', { filter: { commit: "c1' OR 1 = 1 --" } }),
  query('iterations'),
  query('iterations', { filter: { commit: 'c2' } }),
]

verifies('recording:lake:questions', async (t) => {
  if (skip !== false) return void t.pass('DuckDB', { skip })
  const { lake, folder, list } = await fillLake(t)
  t.same([...(await lake.list())].sort(), list.map(({ name }) => name).sort())
  t.same(
    readdirSync(join(folder, 'v1/state')).filter((name) => !name.endsWith('.parquet')),
    [],
    'no incomplete files remain',
  )
  t.same((await lake.runQuery(query('blew_up'), options)).rows, [
    { recording: 'fast', commit: 'c2', scenario: 'stack', first_frame: 40, frames: 11, bodies: 1 },
  ])
  const { rows, truncated } = await lake.runQuery(query('worst_depth', { limit: 2 }), options)
  t.match(rows[0], { recording: 'fast', frame: 30, max_depth_m: 0.02 })
  t.ok(truncated)
  t.same((await lake.runQuery(query('iterations', { filter: { commit: 'c1' } }), options)).rows, [
    { commit: 'c1', scenario: 'stack', frames: 50, p50: 9.5, p95: 15, largest: 15 },
  ])
  t.same(
    (await lake.runQuery(query('worst_depth', { filter: { commit: "c1' OR 1 = 1 --" } }), options)).rows,
    [],
  )
  const [again] = list
  await lake.export(
    [
      {
        ...again,
        file: again?.file ?? '',
        recording: again?.recording ?? '',
        name: `${again?.name}`.replace(/1$/, '2'),
      },
    ],
    options,
  )
  t.equal((await lake.list()).size, list.length, 'a new state of a run replaces its files')
})

verifies('recording:lake:questions', 'missing velocities are not treated as a blow-up', async (t) => {
  if (skip !== false) return void t.pass('DuckDB', { skip })
  const { files, data, more } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  /** Body 1 diverges in frame 3; body 2 has no velocities. */
  const frames = [1, 2, 3].map((frame) => ({
    frame_id: frame,
    time: frame / 100,
    bodies: [
      { id: 1, position: [0, 0, 0], velocity: frame === 3 ? [null, null, null] : [0, 0, 1] },
      { id: 2, position: [1, 0, 0] },
    ],
  }))
  const bytes = Buffer.from(frames.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await library.recorder.write(
    'run',
    (async function* () {
      yield bytes
    })(),
  )
  await library.recorder.finish('run')
  const lake = new DuckDbLake(more)
  await lake.list()
  const file = library.recorder.findFile('run') ?? ''
  await lake.export([{ file, recording: 'run', name: 'run-1' }], options)
  t.match((await lake.runQuery(query('blew_up'), options)).rows, [{ first_frame: 3, frames: 1, bodies: 1 }])
})

async function startChdb(t: Test): Promise<string | undefined> {
  const module = clientProgram('chdb', process.env)
  if (module === undefined) return undefined
  const child = fork(new URL('./chdb-server.mjs', import.meta.url), [module], { execArgv: [] })
  t.teardown(() => child.kill())
  const [port] = await once(child, 'message')
  return `http://127.0.0.1:${port}/`
}

verifies(
  'recording:lake:contract',
  inCI(async (t) => {
    if (skip !== false) return void t.pass('DuckDB', { skip })
    const { lake, folder } = await fillLake(t)
    const given = process.env.CAUSEWAY_CLICKHOUSE_URL
    const url = given ?? (await startChdb(t))
    if (url === undefined)
      return void t.pass('ClickHouse', {
        skip: 'run node test/downloads/clients.mjs install, or set CAUSEWAY_CLICKHOUSE_URL',
      })
    const source = `file('${folder}/v1/{table}/*.parquet', 'Parquet')`
    const clickHouse = new ClickHouseLake({ url, source })
    for (const one of questions) {
      const expected = await lake.runQuery(one, options)
      t.same(await clickHouse.runQuery(one, options), expected, JSON.stringify(one))
    }
    const broken = new ClickHouseLake({ url, source: 'missing_table' })
    await t.rejects(broken.runQuery(query('blew_up'), options), {
      code: 'LAKE_UNAVAILABLE',
      message: /answered 500|answered 404/,
    })
    const closed = new ClickHouseLake({ url: 'http://127.0.0.1:9', source })
    await t.rejects(closed.runQuery(query('blew_up'), options), {
      code: 'LAKE_UNAVAILABLE',
      message: /cannot be reached/,
    })
  }),
)

verifies(
  'recording:lake:questions',
  'without DuckDB, the error contains the install command, and calls can be cancelled',
  async (t) => {
    const { more } = folders(t)
    const known = process.env.CAUSEWAY_OPTIONAL_PACKAGES
    process.env.CAUSEWAY_OPTIONAL_PACKAGES = ''
    t.teardown(() => {
      process.env.CAUSEWAY_OPTIONAL_PACKAGES = known
    })
    const lake = new DuckDbLake(more)
    await lake.list()
    await t.rejects(lake.runQuery(query('blew_up'), options), {
      code: 'PACKAGE_NOT_INSTALLED',
      data: { command: 'npm i @duckdb/node-api@1.5.6-r.1' },
    })
    await t.rejects(lake.runQuery(query('blew_up'), { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
  },
)
