/** Runs the contract of Help's store on a real PostgreSQL server, and measures its queries. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { questions, writePages } from '../../bench/help/load.ts'
import { build } from '../../packages/app-help/src/build/build.ts'
import { readSources } from '../../packages/app-help/src/build/source.ts'
import { defaultSize } from '../../packages/app-help/src/domain/chunk.ts'
import { Queries } from '../../packages/app-help/src/search/queries.ts'
import { Reader } from '../../packages/app-help/src/search/reader.ts'
import { connect } from '../../packages/app-help/src/storage/postgres/connect.ts'
import { openPostgresStorage } from '../../packages/app-help/src/storage/postgres/postgres-storage.ts'
import type { PostgresDatabase } from '../../packages/app-help/src/storage/postgres/sql.ts'
import { storageContract } from '../../packages/app-help/test/storage-contract.ts'
import { verifies } from '../verifies.ts'
import { startCluster } from './cluster.ts'

const cluster = startCluster()
t.teardown(() => cluster?.stop())
t.ok(cluster, 'PostgreSQL is installed')
const url = cluster?.url ?? ''

/** Opens an empty database. */
async function openDatabase(_t: Test): Promise<PostgresDatabase> {
  const db = await connect(url)
  await db.query('DROP SCHEMA IF EXISTS public CASCADE')
  await db.query('CREATE SCHEMA public')
  return db
}

storageContract('PostgreSQL', t, async (t, _folder, now) => openPostgresStorage(await openDatabase(t), now))

/** A node of a plan: `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

const listNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(listNodes)]

verifies('help:postgres:speed', async (t) => {
  const folder = t.testdir()
  writePages(join(folder, 'pages'), 300)
  const db = await openDatabase(t)
  const statements: (readonly [string, readonly unknown[] | undefined])[] = []
  const storage = await openPostgresStorage({
    ...db,
    query(text, parameters) {
      if (text.includes('ts_rank')) statements.push([text, parameters])
      return db.query(text, parameters)
    },
  })
  const embedding = { provider: 'none' } as const
  const reader = new Reader(storage, embedding)
  t.teardown(() => reader.close())
  const { signal } = new AbortController()
  const sources = readSources([`bench=${join(folder, 'pages')}`], folder)
  await build(
    { sources, size: defaultSize, embedding, rebuild: false, holder: 'test' },
    { storage, now: Date.now, signal, progress() {} },
  )
  const [text = ''] = questions(1)
  const scope = { internal: false }
  await new Queries(storage, reader).search(
    { text, top_n: 10, chunks_per_result: 3, mode: 'hybrid', scope, max_chars: 20_000 },
    signal,
  )
  t.ok(statements.length >= 4)
  for (const [statement, parameters] of statements) {
    const [row] = await db.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`,
      parameters,
    )
    const counts = row?.['QUERY PLAN'].flatMap(({ Plan }) => listNodes(Plan)) ?? []
    const loops = counts
      .filter((node) => node['Node Type'] === 'Aggregate')
      .map((node) => node['Actual Loops'])
    t.ok(Math.max(...loops) <= text.split(' ').length, `counts at most once per word: ${loops}`)
  }
})
