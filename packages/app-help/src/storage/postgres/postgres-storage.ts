import { decodeVector } from '@causeway/embed'
import { StoreError } from '@causeway/store'
import { HelpError } from '../../errors.ts'
import { isDead } from '../lock-holder.ts'
import type { BuildLock, BuildReport, Edition, EmbeddedItem, HelpStorage, KnownPage } from '../types.ts'
import { readFacts, readPostgres } from './read-postgres.ts'
import { isKnownFormat, makeTables } from './schema.ts'
import { openVectors } from './search-vectors.ts'
import { insertRows, type PostgresDatabase, type Sql } from './sql.ts'
import { applyChange, createCacheRows } from './write-postgres.ts'

const leaseDurationMs = 60_000

/**
 * Opens the documentation in PostgreSQL and creates missing tables. Each publication is one transaction. Throws
 * `NEWER_DATA`.
 */
export async function openPostgresStorage(
  db: PostgresDatabase,
  now: () => number = Date.now,
  edition: Edition = 'public',
): Promise<HelpStorage> {
  await db.transaction((sql) => makeTables(sql, edition))
  if (!(await isKnownFormat(db)))
    throw new StoreError('NEWER_DATA', 'the tables of the documentation were made by another version')
  const readValue = async (sql: Sql, key: string): Promise<string | undefined> =>
    (await sql.query<{ value: string }>('SELECT value FROM help_state WHERE key = $1', [key]))[0]?.value
  const setValue = (sql: Sql, key: string, text: string) =>
    sql.query(
      'INSERT INTO help_state (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      [key, text],
    )
  return {
    readRevision: async () => Number((await readValue(db, 'revision')) ?? 0),
    async open() {
      const facts = await readFacts(db)
      if (facts === undefined) return undefined
      return readPostgres(db, facts, await openVectors(db, facts.space?.dimensions ?? 0))
    },
    listKnownPages: () =>
      db.query<KnownPage>(
        'SELECT id::integer AS doc_id, source, file_path, content_hash, is_internal FROM help_docs',
      ),
    listEmbeddedItems: () =>
      db.query<EmbeddedItem>(
        'SELECT i.doc_id::integer AS doc_id, i.text_hash, d.title, i.heading, i.text FROM help_items i JOIN help_docs d ON d.id = i.doc_id ORDER BY i.id',
      ),
    publish: (change) =>
      db.transaction(async (sql) => {
        await applyChange(sql, change)
        const revision = Number((await readValue(sql, 'revision')) ?? 0) + 1
        await setValue(sql, 'chunking', change.chunking)
        await setValue(sql, 'built_ms', String(now()))
        await setValue(sql, 'revision', String(revision))
        return revision
      }),
    async readCachedVectors(fingerprint, hashes) {
      const rows = await db.query<{ text_hash: string; vector: Uint8Array }>(
        'SELECT text_hash, vector FROM help_vector_cache WHERE fingerprint = $1 AND text_hash = ANY($2::text[])',
        [fingerprint, hashes],
      )
      return new Map(rows.map(({ text_hash, vector }) => [text_hash, decodeVector(vector)]))
    },
    cacheVectors: (fingerprint, rows) =>
      db.transaction(async (sql) => {
        await insertRows(
          sql,
          'help_vector_cache (fingerprint, text_hash, vector)',
          createCacheRows(fingerprint, rows),
          {
            values: ['$1::text', '$2::text', '$3::bytea'],
            returning: 'ON CONFLICT (fingerprint, text_hash) DO NOTHING',
          },
        )
      }),
    lock: (holder) => createPostgresLock(db, holder, now),
    async readLastReport() {
      const report = await readValue(db, 'report')
      return report === undefined ? undefined : (JSON.parse(report) as BuildReport)
    },
    saveReport: async (report) => void (await setValue(db, 'report', JSON.stringify(report))),
    close: () => db.close(),
  }
}

async function createPostgresLock(
  db: PostgresDatabase,
  holder: string,
  now: () => number,
): Promise<BuildLock> {
  const takeLease = async (): Promise<void> => {
    const nowMs = now()
    const takenLease = await db.query(
      `INSERT INTO help_lease (id, holder, until_ms) VALUES (1, $1, $2)
       ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms
       WHERE help_lease.holder = $1 OR help_lease.until_ms <= $3 RETURNING id`,
      [holder, nowMs + leaseDurationMs, nowMs],
    )
    if (takenLease.length > 0) return
    const [currentLease] = await db.query<{ holder: string }>('SELECT holder FROM help_lease')
    if (currentLease !== undefined && isDead(currentLease.holder)) {
      await db.query('DELETE FROM help_lease WHERE holder = $1', [currentLease.holder])
      return takeLease()
    }
    throw new HelpError('HELP_BUILD_RUNNING', 'another build of the documentation is running')
  }
  await takeLease()
  return {
    renew: takeLease,
    release: async () => void (await db.query('DELETE FROM help_lease WHERE holder = $1', [holder])),
  }
}
