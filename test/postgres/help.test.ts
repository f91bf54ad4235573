/** Runs the contract of Help's store on PostgreSQL 18 with pgvector, as WebAssembly in this process. */
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import t, { type Test } from 'tap'
import { openPostgresStorage } from '../../packages/app-help/src/storage/postgres/postgres-storage.ts'
import type { PostgresDatabase, Sql } from '../../packages/app-help/src/storage/postgres/sql.ts'
import { storageContract } from '../../packages/app-help/test/storage-contract.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(600_000)

const pglite = await PGlite.create({ extensions: { vector } })
t.teardown(() => pglite.close())

/** Adapts a PGlite connection or transaction. 64-bit numbers have the same type as with our drivers. */
const toSql = (connection: Pick<PGlite, 'query'>): Sql => ({
  query: async <Row>(text: string, parameters: readonly unknown[] = []) =>
    (await connection.query<Row>(text, [...parameters])).rows,
})

/** Returns the shared database, emptied for each test. */
async function openDatabase(_t: Test): Promise<PostgresDatabase> {
  await pglite.exec('DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;')
  return {
    ...toSql(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(toSql(transaction as never))),
    close: async () => {},
  }
}

storageContract('PostgreSQL', t, async (t, _folder, now) => openPostgresStorage(await openDatabase(t), now))

verifies('help:postgres', async (t) => {
  const db = await openDatabase(t)
  await openPostgresStorage(db)
  await t.resolves(openPostgresStorage(db), 'keeps existing tables')
  await db.query("UPDATE help_state SET value = '2' WHERE key = 'format'")
  await t.rejects(openPostgresStorage(db), { code: 'NEWER_DATA' })
})

verifies('help:postgres', 'vectors of 3072 dimensions are indexed', async (t) => {
  const db = await openDatabase(t)
  await openPostgresStorage(db)
  const { vectorIndex, createVectorTablesSql } = await import(
    '../../packages/app-help/src/storage/postgres/schema.ts'
  )
  for (const statement of [...createVectorTablesSql(3072), vectorIndex]) await db.query(statement)
  const [row] = await db.query<{ indexdef: string }>(
    "SELECT indexdef FROM pg_indexes WHERE indexname = 'help_vectors_nearest'",
  )
  t.match(row?.indexdef, /hnsw .*halfvec_cosine_ops/)
})
