/** The contract of Help's store over PostgreSQL 18 with pgvector, as WebAssembly in this process. */
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import t, { type Test } from 'tap'
import { openPostgresStorage } from '../../packages/app-help/src/postgres/postgres-storage.ts'
import type { PostgresDatabase, Sql } from '../../packages/app-help/src/postgres/sql.ts'
import { storageContract } from '../../packages/app-help/test/storage-contract.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(600_000)

const pglite = await PGlite.create({ extensions: { vector } })
t.teardown(() => pglite.close())

/** Statements of a PGlite connection or transaction; numbers of 64 bits come as our drivers give them. */
const sqlOf = (connection: Pick<PGlite, 'query'>): Sql => ({
  query: async <Row>(text: string, parameters: readonly unknown[] = []) =>
    (await connection.query<Row>(text, [...parameters])).rows,
})

/** The one database, emptied for each test. */
async function database(_t: Test): Promise<PostgresDatabase> {
  await pglite.exec('DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;')
  return {
    ...sqlOf(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(sqlOf(transaction as never))),
    close: async () => {},
  }
}

storageContract('PostgreSQL', t, async (t, _folder, now) => openPostgresStorage(await database(t), now))

verifies('help:postgres', async (t) => {
  const db = await database(t)
  await openPostgresStorage(db)
  await t.resolves(openPostgresStorage(db), 'tables that are there stay')
  await db.query("UPDATE help_state SET value = '2' WHERE key = 'format'")
  await t.rejects(openPostgresStorage(db), { code: 'NEWER_DATA' })
})

verifies('help:postgres', 'vectors of 3072 dimensions have an index', async (t) => {
  const db = await database(t)
  await openPostgresStorage(db)
  const { vectorIndex, vectorTables } = await import('../../packages/app-help/src/postgres/schema.ts')
  for (const statement of [...vectorTables(3072), vectorIndex]) await db.query(statement)
  const [row] = await db.query<{ indexdef: string }>(
    "SELECT indexdef FROM pg_indexes WHERE indexname = 'help_vectors_nearest'",
  )
  t.match(row?.indexdef, /hnsw .*halfvec_cosine_ops/)
})
