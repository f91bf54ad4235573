import type { Hit, Lists } from '../../domain/fuse.ts'
import type { RankQuestion } from '../types.ts'
import { type StoredVector, VectorScan } from '../vector-scan.ts'
import { scopeCondition, toParameters } from './scope.ts'
import { formatVector, type PostgresDatabase, type Sql } from './sql.ts'

type VectorQuery = Required<Pick<RankQuestion, 'scope' | 'limit'>> & { readonly vector: Float32Array }

export interface PostgresVectors {
  nearest(query: VectorQuery): Promise<Lists>
  similarities(items: readonly number[], vector: Float32Array): Promise<ReadonlyMap<number, number>>
}

/** Opens vectors that pgvector searches, or that are stored as bytes and scanned. */
export async function openVectors(db: PostgresDatabase, dimensions: number): Promise<PostgresVectors> {
  if (dimensions === 0) return { nearest: async () => ({}), similarities: async () => new Map() }
  const [column] = await db.query<{ type: string }>(
    'SELECT pg_typeof(embedding)::text AS type FROM help_vectors LIMIT 1',
  )
  return column?.type === 'halfvec' ? createIndexedSearch(db) : createScanningSearch(db, dimensions)
}

const createIndexedSearch = (db: PostgresDatabase): PostgresVectors => ({
  async nearest(query) {
    const [vector, page] = await Promise.all([findNearestItems(db, query), findNearestPages(db, query)])
    return { vector, page }
  },
  async similarities(items, vector) {
    const rows = await db.query<{ id: number; similarity: number }>(
      'SELECT i.id::integer AS id, 1 - (v.embedding <=> $2::halfvec) AS similarity FROM help_items i JOIN help_vectors v ON v.text_hash = i.text_hash WHERE i.id = ANY($1::bigint[])',
      [items, formatVector(vector)],
    )
    return new Map(rows.map(({ id, similarity }) => [id, similarity]))
  },
})

function createScanningSearch(db: PostgresDatabase, dimensions: number): PostgresVectors {
  let scan: Promise<VectorScan> | undefined
  const readScan = async (): Promise<VectorScan> =>
    new VectorScan(
      dimensions,
      await db.query<StoredVector>(
        'SELECT i.id::integer AS item_id, i.doc_id::integer AS doc_id, v.embedding FROM help_items i JOIN help_vectors v ON v.text_hash = i.text_hash ORDER BY i.id',
      ),
    )
  const open = (): Promise<VectorScan> => {
    scan ??= readScan().catch((error: unknown) => {
      scan = undefined
      throw error
    })
    return scan
  }
  return {
    async nearest({ vector, scope, limit }) {
      const [vectors, pages] = await Promise.all([
        open(),
        db.query<{ id: number }>(
          `SELECT d.id::integer AS id FROM help_docs d WHERE ${scopeCondition}`,
          toParameters(scope),
        ),
      ])
      const visible = new Set(pages.map(({ id }) => id))
      return {
        vector: vectors.findNearestItems(vector, limit, visible),
        page: vectors.findNearestPages(vector, limit, visible),
      }
    },
    similarities: async (items, vector) => (await open()).computeSimilarities(items, vector),
  }
}

/** Examines more candidates than needed, because the scope is applied afterwards. */
async function findNearestItems(
  db: PostgresDatabase,
  { vector, scope, limit }: VectorQuery,
): Promise<readonly Hit[]> {
  return db.transaction(async (sql) => {
    await sql.query('SET LOCAL hnsw.ef_search = 400')
    await sql.query("SET LOCAL hnsw.iterative_scan = 'relaxed_order'")
    return sql.query<Hit>(
      `SELECT i.id::integer AS item_id, i.doc_id::integer AS doc_id, 1 - (v.embedding <=> $5::halfvec) AS similarity
       FROM help_vectors v JOIN help_items i ON i.text_hash = v.text_hash JOIN help_docs d ON d.id = i.doc_id
       WHERE ${scopeCondition} AND v.embedding <=> $5::halfvec < 1
       ORDER BY v.embedding <=> $5::halfvec, i.id LIMIT $6`,
      [...toParameters(scope), formatVector(vector), limit],
    )
  })
}

const findNearestPages = (sql: Sql, { vector, scope, limit }: VectorQuery): Promise<readonly Hit[]> =>
  sql.query<Hit>(
    `SELECT d.id::integer AS doc_id, NULL AS item_id FROM help_page_vectors p JOIN help_docs d ON d.id = p.doc_id
     WHERE ${scopeCondition} AND p.embedding <=> $5::halfvec < 1 ORDER BY p.embedding <=> $5::halfvec, d.id LIMIT $6`,
    [...toParameters(scope), formatVector(vector), limit],
  )
