/** Measures questions about the frames of 1,000 runs with DuckDB, and with ClickHouse as a library over the same files. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ClickHouseLake, DuckDbLake, type LakeAnswer, type LakeQuery } from '@causeway/recording'
import { openDuckDb } from '../../packages/recording/src/lake/duckdb-library.ts'
import { writeTable } from '../../packages/recording/src/lake/export-lake-run.ts'
import { type LakeTable, lakeTables } from '../../packages/recording/src/lake/lake-schema.ts'
import { clientProgram } from '../../test/downloads/clients.mjs'
import { requirePackages } from '../../test/downloads/optional.ts'
import { endedChildrenCpuMs } from '../program.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { interleaved, median } from '../rounds.ts'

const [runCount, frames, bodies, commits, scenarios] = [1000, 1000, 10, 100, 10]
const rounds = 3
/** Seconds. */
const limit = { most: 10 }

/** In bad runs one body is too fast from this frame on. */
const firstBadFrame = 801
const isBad = (run: number): boolean => run % 3 === 0 && run >= 600

const query = (question: string, more: Partial<LakeQuery> = {}): LakeQuery => ({
  ...{ question, filter: {}, threshold: undefined, limit: 2 * runCount, deadlineMs: 60_000 },
  ...more,
})

const questions = [
  { name: 'blew_up', query: query('blew_up'), rows: range(runCount).filter(isBad).length },
  {
    name: 'blew_up of one scenario',
    query: query('blew_up', { filter: { scenario: 'scenario-3' } }),
    rows: range(runCount).filter((run) => isBad(run) && run % scenarios === 3).length,
  },
  { name: 'worst_depth', query: query('worst_depth'), rows: runCount },
  { name: 'iterations', query: query('iterations'), rows: commits * scenarios },
]

interface Answered {
  readonly answer: LakeAnswer
  readonly seconds: number
  /** Of the process of DuckDB; NaN for ClickHouse. */
  readonly cpuSeconds: number
}

/** Writes the files in the form of the lake, and asks every question in alternating rounds. */
export async function measureLake(folder: string, say: (line: string) => void): Promise<Section> {
  const missing = requirePackages('duckdb')
  if (missing !== false) throw new Error(missing)
  const lake = join(folder, 'lake')
  const duckDb = new DuckDbLake(lake)
  await duckDb.list()
  await writeRuns(lake)
  const chdb = clientProgram('chdb', process.env)
  if (chdb === undefined) say('ClickHouse is not measured: run node test/downloads/clients.mjs install')
  const server = chdb === undefined ? undefined : await startChdb(chdb)
  try {
    const clickHouse = server && new ClickHouseLake({ url: server.url, source: toSource(lake) })
    const engines = { DuckDB: duckDb, ...(clickHouse && { ClickHouse: clickHouse }) }
    const measured = await interleaved(
      questions.flatMap(({ name, query }) =>
        Object.entries(engines).map(([engine, lake]) => ({
          name: `${name}, ${engine}`,
          run: () => ask(lake, query),
        })),
      ),
      rounds,
    )
    const get = (name: string) => measured.get(name) ?? []
    for (const { name, rows } of questions)
      requireEqual(name, rows, [...get(`${name}, DuckDB`), ...get(`${name}, ClickHouse`)])
    return {
      title: `Questions about ${number(runCount * frames * bodies)} states of bodies`,
      about: `${number(runCount)} runs of ${number(frames)} frames and ${bodies} bodies as ${number(getSize(lake) / 1e6)} MB of Parquet, a file per run and table, with numbers that do not compress. Seconds from a question of query_runs to its answer, without export and HTTP; medians of ${rounds} interleaved rounds. DuckDB starts a process with two threads for each question. ClickHouse is chDB behind an HTTP server; ${server ? 'its answers equal those of DuckDB' : 'it is not installed'}.`,
      head: ['question', 'rows', 'DuckDB, s', 'its processor time, s', 'ClickHouse, s', 'budget, s'],
      rows: questions.map(({ name, rows }) => [
        name,
        number(rows),
        held(median(get(`${name}, DuckDB`).map(({ seconds }) => seconds)), limit),
        number(median(get(`${name}, DuckDB`).map(({ cpuSeconds }) => cpuSeconds))),
        number(median(get(`${name}, ClickHouse`).map(({ seconds }) => seconds))),
        limitText(limit),
      ]),
    }
  } finally {
    server?.stop()
  }
}

/** Writes the Parquet files of all runs. */
async function writeRuns(folder: string): Promise<void> {
  const connection = await openDuckDb(folder)
  for (const run of range(runCount))
    for (const table of Object.keys(lakeTables).toReversed() as LakeTable[]) {
      await connection.run(`CREATE OR REPLACE TABLE ${table} (${lakeTables[table].join(', ')})`)
      await connection.run(`INSERT INTO ${table} ${selectRows(run, table)}`)
      await writeTable(connection, table, { name: `run-${run}-1` }, folder)
    }
}

/** Returns the statement for the rows of a run. Their numbers are hashes, scaled to 0…1. */
function selectRows(run: number, table: LakeTable): string {
  const facts = `'run-${run}', 'commit-${Math.floor((run * commits) / runCount)}', 'main', 'scenario-${run % scenarios}', frame, frame * 0.01`
  const random = (column: number, row: string) =>
    `(hash(${run}, ${row}, ${column}) / 18446744073709551616::DOUBLE)`
  const from = `FROM range(1, ${frames + 1}) AS frames(frame)`
  if (table === 'frame') {
    const [iterations, ...others] = range(4).map((column) => random(column, 'frame'))
    return `SELECT ${facts}, floor(50 * ${iterations}), ${others.join(', ')} ${from}`
  }
  const numbers = range(10).map((column) => random(column, 'frame, body'))
  if (isBad(run))
    numbers[3] = `CASE WHEN body = 7 AND frame >= ${firstBadFrame} THEN 2000 ELSE ${numbers[3]} END`
  return `SELECT ${facts}, body, ${numbers.join(', ')} ${from}, range(1, ${bodies + 1}) AS bodies(body)`
}

async function ask(lake: DuckDbLake | ClickHouseLake, query: LakeQuery): Promise<Answered> {
  const [before, cpuBefore] = [performance.now(), endedChildrenCpuMs()]
  const answer = await lake.runQuery(query, { signal: new AbortController().signal })
  const seconds = (performance.now() - before) / 1000
  if (lake instanceof ClickHouseLake || cpuBefore === undefined)
    return { answer, seconds, cpuSeconds: Number.NaN }
  // The process of a question ends after it has sent the answer.
  let cpuAfter = cpuBefore
  while (cpuAfter === cpuBefore) {
    await pause(10)
    cpuAfter = endedChildrenCpuMs() ?? Number.NaN
  }
  return { answer, seconds, cpuSeconds: (cpuAfter - cpuBefore) / 1000 }
}

/** Throws if an answer differs from the others, or from the planted rows. */
function requireEqual(name: string, rows: number, answered: readonly Answered[]): void {
  const [first, ...others] = answered.map(({ answer }) => answer)
  if (first?.rows.length !== rows) throw new Error(`${name}: ${first?.rows.length} of ${rows} rows`)
  if (name === 'blew_up' && first.rows.some(({ first_frame }) => first_frame !== firstBadFrame))
    throw new Error('the first bad frame was not found')
  if (others.some((other) => !isDeepStrictEqual(other, first))) throw new Error(`${name}: the answers differ`)
}

async function startChdb(module: string) {
  const program = join(import.meta.dirname, '../../packages/recording/test/chdb-server.mjs')
  const child = fork(program, [module], { execArgv: [] })
  const [port] = await once(child, 'message')
  return { url: `http://127.0.0.1:${port}/`, stop: () => void child.kill() }
}

const toSource = (folder: string): string => `file('${folder}/v1/{table}/*.parquet', 'Parquet')`

const getSize = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i)
}
