import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { randomFrom } from '../../../test/random.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { defaultSize } from '../src/domain/chunk.ts'
import { exportPublic, verifyExport } from '../src/export/export.ts'
import { computeSha256 } from '../src/export/export-file.ts'
import { importPublic } from '../src/export/import.ts'
import { connect, toDatabaseError } from '../src/storage/postgres/connect.ts'
import { openPostgresStorage } from '../src/storage/postgres/postgres-storage.ts'
import { everybody, type Library, library, listPaths, withMethods } from './help-kit.ts'
import { findRound, pageCount } from './killed/rounds.ts'

const canary = 'The quokka zanzibarcanary sentence stays on this machine.'

const files = {
  'docs/README.md': '# Public\n\nThe public overview of everything there is.',
  'docs/guide.md': '# Guide\n\nHow to begin with the first steps.',
  'docs_dev/README.md': `# Internal\n\n${canary}`,
  'docs_dev/secret-plan.md': `# Plan\n\nOther words: marsupialcanary.\n\n${canary}`,
  'docs/closed.md': `---\ninternal: true\n---\n# Closed\n\nwombatcanary and ${canary}`,
}

const tools = (help: Library, id = 'a'.repeat(32)) => ({
  storage: help.storage,
  now: () => 1_700_000_000_000,
  newId: () => id,
  signal: new AbortController().signal,
  progress() {},
})

verifies('help:export:canary', async (t) => {
  const help = library(t, files)
  await help.build()
  // An internal page that was public before must not leave data behind.
  help.write({ 'docs/was-public.md': `# Was\n\nkoalacanary ${canary}` })
  await help.build()
  help.write({ 'docs/was-public.md': `---\ninternal: true\n---\n# Was\n\nkoalacanary ${canary}` })
  await help.build()
  const folder = join(help.folder, 'out')
  const metadata = await exportPublic(folder, tools(help))
  t.match(metadata, { docs_count: 2, items_count: 2 }, 'counts only public pages')
  t.same(readdirSync(folder).sort(), ['help-public.db', 'metadata.json'])
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name)).toString('latin1').toLowerCase()
    for (const word of ['canary', 'canari', 'quokka', 'secret-plan', 'docs_dev', 'was-public', 'closed'])
      t.notOk(bytes.includes(word), `${name} does not contain ${word}`)
  }
})

verifies('help:export:same-bytes', async (t) => {
  const help = library(t, files)
  await help.build()
  const [a, b] = ['one', 'two'].map((name) => join(help.folder, name))
  if (a === undefined || b === undefined) return void t.fail('two exports have the same bytes')
  const first = await exportPublic(a, tools(help))
  help.write({ 'docs_dev/more.md': `# More\n\n${canary} again` })
  await help.build()
  const second = await exportPublic(b, tools(help, 'b'.repeat(32)))
  t.equal(first.sha256, second.sha256, 'is independent of internal pages')
  t.not(first.export_id, second.export_id)
})

verifies('help:export:verify', async (t) => {
  const help = library(t, files)
  await help.build()
  const folder = join(help.folder, 'out')
  await exportPublic(folder, tools(help))
  const index = await help.storage.open()
  t.teardown(() => index?.close())
  await t.resolves(verifyExport(folder, index))
  const file = join(folder, 'help-public.db')
  const reseal = (): void => {
    const metadata = JSON.parse(readFileSync(join(folder, 'metadata.json'), 'utf8'))
    writeFileSync(
      join(folder, 'metadata.json'),
      JSON.stringify({ ...metadata, sha256: computeSha256(readFileSync(file)) }),
    )
  }
  const spoil = async (sql: string, code: string, what: string): Promise<void> => {
    await exportPublic(folder, tools(help))
    const db = new BetterSqlite3(file)
    db.exec(sql)
    db.close()
    reseal()
    await t.rejects(verifyExport(folder, index), { code }, what)
  }
  const text = canary.replaceAll("'", "''")
  await spoil(
    `UPDATE help_docs SET body = body || '${text}' WHERE id = 1`,
    'HELP_EXPORT_UNSAFE',
    'a sentence in a page',
  )
  await spoil(
    `INSERT INTO help_meta VALUES ('note', 'secret-plan.md')`,
    'HELP_EXPORT_UNSAFE',
    'the path of a page',
  )
  await spoil(
    `INSERT INTO help_fts_exact (rowid, text) VALUES (99, 'marsupialcanary')`,
    'HELP_EXPORT_UNSAFE',
    'a word of the index',
  )
  await spoil(`CREATE TABLE other (x); INSERT INTO other VALUES (1)`, 'HELP_IMPORT_REFUSED', 'another table')
  await spoil(
    `UPDATE help_docs SET items = items; DELETE FROM help_items`,
    'HELP_IMPORT_REFUSED',
    'deleted rows',
  )
})

verifies('help:export:deleted', async (t) => {
  const help = library(t, files)
  await help.build()
  const folder = join(help.folder, 'out')
  await exportPublic(folder, tools(help))
  // The sentence is now in another public page, and only the internal title is a leak.
  const index = await help.storage.open()
  if (index === undefined) return void t.fail('rejects a file that is not an index')
  t.teardown(() => index.close())
  const leak = async () => `# Page\n\n${canary}`
  let calls = 0
  const storage = withMethods(help.storage, {
    open: async () =>
      withMethods(index, {
        close: async () => {},
        // The copied index leaks, and the index for comparison is correct.
        readBody: (id: number, scope: { internal: boolean }) =>
          ++calls <= 2 ? leak() : index.readBody(id, scope),
      }),
  })
  await t.rejects(exportPublic(folder, { ...tools(help), storage }), { code: 'HELP_EXPORT_UNSAFE' })
  t.same(readdirSync(folder), [], 'deletes the unsafe and the previous export')
})

verifies('help:import', async (t) => {
  const from = library(t, files)
  await from.build()
  const folder = join(from.folder, 'out')
  await exportPublic(folder, tools(from))
  await t.test('importPublic imports into an index with pages', async (t) => {
    const to = library(t, {
      'docs/old.md': '# Old\n\nreplaced page',
      'docs_dev/own.md': '# Own\n\nkept page',
    })
    await to.build()
    const options = {
      size: defaultSize,
      embedding: { provider: 'lsa' },
      rebuild: false,
      holder: 'import',
    } as const
    const report = await importPublic(folder, options, { ...tools(to), now: Date.now })
    t.match(report, { added: 2, removed: 1, failed: [] })
    t.same(listPaths(await to.ask('first steps', { mode: 'lexical' })), ['docs/guide.md'])
    t.same(listPaths(await to.ask('page', { mode: 'lexical', scope: { internal: true } })), [
      'docs_dev/own.md',
    ])
    const found = await to.ask('begin with the steps')
    t.match(found, { mode: 'hybrid' }, 'imported pages have vectors')
    t.match(await importPublic(folder, options, { ...tools(to), now: Date.now }), { unchanged: 2, added: 0 })
  })
})

verifies('help:import:refused', async (t) => {
  const help = library(t, files)
  await help.build()
  const folder = join(help.folder, 'out')
  const file = join(folder, 'help-public.db')
  const options = {
    size: defaultSize,
    embedding: { provider: 'lsa' },
    rebuild: false,
    holder: 'import',
  } as const
  const refused = (what: string) =>
    t.rejects(
      importPublic(folder, options, { ...tools(help), now: Date.now }),
      { code: 'HELP_IMPORT_REFUSED' },
      what,
    )
  await refused('no files')
  await exportPublic(folder, tools(help))
  const metadata = JSON.parse(readFileSync(join(folder, 'metadata.json'), 'utf8'))
  writeFileSync(join(folder, 'metadata.json'), JSON.stringify({ ...metadata, format: 2 }))
  await refused('another version')
  writeFileSync(join(folder, 'metadata.json'), 'torn {')
  await refused('torn metadata')
  writeFileSync(join(folder, 'metadata.json'), JSON.stringify(metadata))
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('x')]))
  await refused('another byte')
  writeFileSync(file, 'not a database')
  writeFileSync(
    join(folder, 'metadata.json'),
    JSON.stringify({ ...metadata, sha256: computeSha256(Buffer.from('not a database')) }),
  )
  await refused('no database')
})

t.test('exportPublic fails without an index', async (t) => {
  const help = library(t)
  await t.rejects(exportPublic(join(help.folder, 'out'), tools(help)), { code: 'HELP_NOT_BUILT' })
})

verifies('help:export:size', async (t) => {
  const help = library(t, files)
  await help.build()
  const folder = join(help.folder, 'out')
  await exportPublic(folder, tools(help))
  const db = new BetterSqlite3(join(folder, 'help-public.db'), { readonly: true })
  t.teardown(() => db.close())
  const { dimensions } = db.prepare('SELECT dimensions FROM help_spaces').get() as { dimensions: number }
  const bytes = db.prepare('SELECT max(length(embedding)) FROM help_vectors').pluck().get()
  t.equal(bytes, dimensions * 4, 'stores four bytes per component')
  t.ok(statSync(join(folder, 'help-public.db')).size > 0)
})

verifies('help:postgres', 'an unreachable server is reported without its address and password', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  const db = await connect(`postgres://someone:secretword@127.0.0.1:${port}/docs`)
  t.teardown(() => db.close())
  const failure = await openPostgresStorage(db).then(
    () => t.fail('reports a refused connection'),
    (error: unknown) => error,
  )
  t.match(failure, { code: 'HELP_DATABASE_UNUSABLE', data: { database_code: 'ECONNREFUSED' } })
  t.notMatch(String((failure as Error).message), /secretword|127\.0\.0\.1/)
})

verifies(
  'help:postgres',
  'database errors are reported by their cause, such as a missing extension',
  async (t) => {
    for (const [code, message] of [
      ['0A000', /extension vector/],
      ['42704', /extension vector/],
      ['28P01', /rejected the user/],
      ['3D000', /database does not exist/],
      ['57P01', /cannot be reached/],
      ['53300', /no free space or connections/],
    ] as const)
      t.match(toDatabaseError(Object.assign(new Error('as PostgreSQL says it'), { code })), {
        code: 'HELP_DATABASE_UNUSABLE',
        message,
      })
    const mistake = Object.assign(new Error('syntax error'), { code: '42601' })
    t.equal(toDatabaseError(mistake), mistake, 'returns other errors unchanged')
  },
)

const isLong = process.env.CAUSEWAY_LONG !== undefined
t.setTimeout(isLong ? 600_000 : 240_000)

const program = fileURLToPath(new URL('./killed/building.ts', import.meta.url))

/**
 * Starts a process that builds from round `from` on, kills it after its first round, and returns the last completed
 * round.
 */
async function killedBuild(
  t: Test,
  folder: string,
  { from, lateMs }: { readonly from: number; readonly lateMs: number },
): Promise<number> {
  const args = ['--conditions=@causeway/source', program, folder, String(from)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let last = from - 1
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (last < from) setTimeout(() => child.kill('SIGKILL'), lateMs)
    last = Number(line)
  })
  t.same(await once(child, 'close'), [null, 'SIGKILL'])
  return last
}

verifies(
  'help:build:crash',
  'a process killed at any moment of a build leaves a complete index',
  inCI(async (t) => {
    const help = library(t)
    const random = randomFrom(20_261_122)
    let from = 1
    for (let lives = 0; lives < (isLong ? 30 : 4); lives++) {
      const said = await killedBuild(t, help.folder, { from, lateMs: random.below(400) })
      const pages = await help.questions.listPages(everybody)
      t.equal(pages.length, pageCount)
      const texts = await Promise.all(
        pages.map(({ doc_id }) =>
          help.questions.readPage({ doc_id }, { from_line: 1, max_lines: 100 }, everybody),
        ),
      )
      const rounds = new Set(texts.map(({ content }) => findRound(content)))
      t.equal(rounds.size, 1, 'the published index is complete')
      const [round = 0] = rounds
      t.ok(round >= said, `a reported build is published: ${round}, reported ${said}`)
      const found = await help.ask(`words of round ${round}`, { top_n: 50 })
      t.ok(found.results.length > 0)
      t.ok(
        found.results.every(({ chunks }) => chunks.every(({ text }) => text.includes(`round ${round}`))),
        'a search finds the text of the published revision',
      )
      from = round + 2
    }
    await t.resolves(help.build(), 'takes over the lock of a dead process')
    t.notOk(
      readdirSync(join(help.data, 'help')).some((name) => name.includes('.part')),
      'the next build removes incomplete files',
    )
  }),
)
