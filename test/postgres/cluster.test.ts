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

verifies('help:postgres:speed', async (t) => {
  const folder = t.testdir()
  writePages(join(folder, 'pages'), 5000)
  const storage = await openPostgresStorage(await openDatabase(t))
  const embedding = { provider: 'none' } as const
  const reader = new Reader(storage, embedding)
  t.teardown(() => reader.close())
  const { signal } = new AbortController()
  const sources = readSources([`bench=${join(folder, 'pages')}`], folder)
  await build(
    { sources, size: defaultSize, embedding, rebuild: false, holder: 'test' },
    { storage, now: Date.now, signal, progress() {} },
  )
  const queries = new Queries(storage, reader)
  const search = (text: string) =>
    queries.search(
      {
        text,
        top_n: 10,
        chunks_per_result: 3,
        mode: 'hybrid',
        scope: { internal: false },
        max_chars: 20_000,
      },
      signal,
    )
  const measureMedian = async (): Promise<number> => {
    const times: number[] = []
    for (const text of questions(21)) {
      const started = performance.now()
      await search(text)
      times.push(performance.now() - started)
    }
    return times.sort((a, b) => a - b)[10] ?? 0
  }
  // Other programs can slow down a round, but not speed it up.
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 && best > 100; round++) best = Math.min(best, await measureMedian())
  t.ok(best <= 100, `${best.toFixed(1)} ms`)
})
