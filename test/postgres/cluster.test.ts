/** Runs the contract of Help's store on a real PostgreSQL server, and measures its queries. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { questions, writePages } from '../../bench/help/load.ts'
import { build } from '../../packages/app-help/src/build/build.ts'
import { readSources } from '../../packages/app-help/src/build/source.ts'
import { defaultSize } from '../../packages/app-help/src/domain/chunk.ts'
import { Queries } from '../../packages/app-help/src/search/queries.ts'
import { Reader } from '../../packages/app-help/src/search/reader.ts'
import { rankLists } from '../../packages/app-help/src/search/search.ts'
import { connect } from '../../packages/app-help/src/storage/postgres/connect.ts'
import { openPostgresStorage } from '../../packages/app-help/src/storage/postgres/postgres-storage.ts'
import type { PostgresDatabase } from '../../packages/app-help/src/storage/postgres/sql.ts'
import { openSqliteStorage } from '../../packages/app-help/src/storage/sqlite/sqlite-storage.ts'
import type { HelpStorage } from '../../packages/app-help/src/storage/types.ts'
import { storageContract } from '../../packages/app-help/test/storage-contract.ts'
import { repository } from '../tree.ts'
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
      if (text.includes('idf')) statements.push([text, parameters])
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

/** Questions with names, compound words and Japanese. */
const asked = [
  'how do I start the server when the computer starts',
  'CAUSEWAY_DATA_DIR',
  'which tool finds the first frame in which two bodies overlap',
  'require a token from callers of /mcp',
  'what does OUTSIDE_ROOTS mean',
  'server.json or .mcp.json',
  'naïve retries',
  'ログレベルの変更',
]

/** Builds the documentation of this repository and ranks the questions by words. Returns the pages and chunks of each list. */
async function rankAll(storage: HelpStorage, folder: string): Promise<readonly unknown[]> {
  const sources = readSources([`docs=${join(repository, 'docs')}`, `extra=${folder}`], repository)
  const request = {
    sources,
    size: defaultSize,
    embedding: { provider: 'lsa' },
    rebuild: false,
    holder: 'test',
  } as const
  await build(request, { storage, now: Date.now, signal: new AbortController().signal, progress() {} })
  const index = await storage.open()
  if (index === undefined) throw new Error('nothing was built')
  const scope = { internal: false }
  const paths = new Map((await index.listDocs(scope)).map(({ doc_id, file_path }) => [doc_id, file_path]))
  const ranked = []
  for (const text of asked) {
    const lists = await rankLists(index, { text, mode: 'hybrid', scope, vector: undefined })
    const ids = Object.values(lists).flatMap((hits) => hits.flatMap(({ item_id }) => item_id ?? []))
    const places = new Map(
      (await index.readItems(ids)).map(({ item_id, start_line }) => [item_id, start_line]),
    )
    const names = Object.entries(lists).map(([name, hits]) => [
      name,
      hits.map(
        ({ doc_id, item_id }) => `${paths.get(doc_id)}:${item_id === null ? '' : places.get(item_id)}`,
      ),
    ])
    ranked.push({ text, ...Object.fromEntries(names) })
  }
  await index.close()
  await storage.close()
  return ranked
}

verifies('help:postgres:ranking', async (t) => {
  const folder = t.testdir({
    pages: {
      'log.md': '# ログ\n\nログレベルを変更する方法。',
      'long.md': `# Long\n\n${'q'.repeat(5000)} naive retries`,
    },
  })
  const pages = join(folder, 'pages')
  const expected = await rankAll(openSqliteStorage(join(folder, 'data')), pages)
  const ranked = await rankAll(await openPostgresStorage(await openDatabase(t)), pages)
  for (const [at, lists] of ranked.entries()) t.same(lists, expected[at], asked[at] ?? '')
})

verifies(
  'help:postgres:ranking',
  'tables of an older version are searched, and filled by the next build',
  async (t) => {
    const folder = t.testdir({ pages: { 'a.md': '# Hooks\n\nA hook runs before the handler.' } })
    const db = await openDatabase(t)
    const storage = await openPostgresStorage(db)
    const embedding = { provider: 'none' } as const
    const reader = new Reader(storage, embedding)
    t.teardown(() => reader.close())
    const { signal } = new AbortController()
    const sources = readSources([`docs=${join(folder, 'pages')}`], folder)
    const run = (rebuild: boolean) =>
      build(
        { sources, size: defaultSize, embedding, rebuild, holder: 'test' },
        { storage, now: Date.now, signal, progress() {} },
      )
    const find = async () => {
      const request = {
        text: 'handlers',
        top_n: 1,
        chunks_per_result: 1,
        mode: 'lexical',
        max_chars: 100,
      } as const
      return (await new Queries(storage, reader).search({ ...request, scope: { internal: false } }, signal))
        .results
    }
    await run(false)
    await db.query('ALTER TABLE help_docs DROP COLUMN frequencies, DROP COLUMN length')
    await db.query('ALTER TABLE help_links DROP COLUMN frequencies, DROP COLUMN length')
    await db.query(
      'ALTER TABLE help_items DROP COLUMN stem_frequencies, DROP COLUMN stem_length, DROP COLUMN exact_frequencies, DROP COLUMN exact_length',
    )
    await openPostgresStorage(db)
    t.equal((await find()).length, 1)
    await run(true)
    const [row] = await db.query<{ missing: number }>(
      'SELECT count(*) FILTER (WHERE stem_length IS NULL)::integer AS missing FROM help_items',
    )
    t.equal(row?.missing, 0)
  },
)
