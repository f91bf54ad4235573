import { readFileSync } from 'node:fs'
import { libraryDefaults } from '@causeway/recording'
import t from 'tap'
import { BridgeError } from '../bridge/src/errors.ts'
import { plotIntervals } from '../packages/app-debrief/src/store.ts'
import { defaultSize } from '../packages/app-help/src/domain/chunk.ts'
import { defaultModel } from '../packages/app-help/src/settings.ts'
import { defaultMaxParallel } from '../packages/app-trm/src/session/critic.ts'
import { blockNames, fill } from '../scripts/docs/blocks.ts'
import { dataTable } from '../scripts/docs/data.ts'
import { documents, stale } from '../scripts/docs/documents.ts'
import { errorTable } from '../scripts/docs/errors.ts'
import { documented, errorDefinitions, makers } from '../scripts/docs/makers.ts'
import { packageTable, readPackages } from '../scripts/docs/packages.ts'
import { settingsTable } from '../scripts/docs/settings.ts'
import { table } from '../scripts/docs/table.ts'
import { typeText } from '../scripts/docs/tools.ts'
import { type SettingKey, settings } from '../server/src/config/config.ts'
import { requirements } from './requirements.ts'
import { files, repository } from './tree.ts'
import { verifies } from './verifies.ts'

verifies('workshop:docs:current', async (t) => {
  t.same(stale(repository, makers, { write: false }), [])
})

verifies('workshop:docs:current', 'every block with a generator is part of a document', async (t) => {
  const shown = documents(repository).flatMap((path) =>
    blockNames(readFileSync(`${repository}/${path}`, 'utf8')),
  )
  t.same(
    [...makers.keys()].filter((name) => !shown.includes(name)),
    [],
  )
})

const page = (content: string) =>
  `# Title\n\n<!-- made by scripts/docs.ts: word -->\n${content}<!-- end word -->\n\nThe end.\n`
const wordMaker = new Map([['word', () => 'new']])

verifies('workshop:docs:stale', async (t) => {
  const root = t.testdir({
    'README.md': page('\nnew\n\n'),
    docs: { 'a.md': page(''), 'b.md': 'nothing generated' },
    packages: { 'app-x': { 'README.md': page('\nold\n\n') } },
  })
  const expected = ['docs/a.md', 'packages/app-x/README.md']
  t.same(stale(root, wordMaker, { write: false }), expected)
  t.same(stale(root, wordMaker, { write: true }), expected, 'a check writes nothing')
  t.same(stale(root, wordMaker, { write: false }), [])
  t.equal(readFileSync(`${root}/docs/a.md`, 'utf8'), page('\nnew\n\n'))
})

t.test('docs reports the file of a block without an end or a generator', async (t) => {
  t.throws(() => fill('<!-- made by scripts/docs.ts: word -->\n', wordMaker), { message: /mark/ })
  t.throws(() => fill(page('').replace('end word', 'end other'), wordMaker), { message: /"other"/ })
  t.throws(() => fill(page(''), new Map()), { message: /"word"/ })
  const root = t.testdir({ 'README.md': page('').replace('<!-- end word -->', '') })
  t.throws(() => stale(root, wordMaker, { write: false }), { message: /^README\.md: / })
})

t.test('docs escapes pipes and line breaks in table cells', async (t) => {
  t.equal(table(['a'], [['x | y\n  z']]), '| a |\n| --- |\n| x \\| y z |')
})

t.test('docs: an error row and a setting row', async (t) => {
  const row = { rpc: -32000, status: 404, legacyCode: -32001, retryable: true, about: 'gone', remedy: 'look' }
  t.match(errorTable({ GONE: row }), '| `GONE` | -32000 | 404 | -32001 | yes | gone | look |')
  const setting = { key: 'port', env: 'PORT', flag: '--port', default: '3100', meaning: 'where' }
  t.match(settingsTable([setting]), '| `PORT` | `--port` | `port` | 3100 | where |')
})

t.test(
  'every error has a JSON-RPC number, an HTTP status, and a meaning and a remedy in lower case',
  async (t) => {
    for (const [code, { rpc, status, about, remedy }] of Object.entries(errorDefinitions)) {
      t.ok(rpc < 0 && status >= 400 && status < 600, code)
      t.match(about, /^[^A-Z].*[^.]$/, code)
      t.match(remedy, /^[^A-Z].*[^.]$/, code)
    }
  },
)

t.test('docs/errors.md lists the codes of every errors.ts', async (t) => {
  for (const file of files(repository).filter((file) => file.endsWith('/src/errors.ts'))) {
    const classes: { definitions?: object }[] = Object.values(await import(`${repository}/${file}`))
    const codes = classes.flatMap(({ definitions = {} }) => Object.keys(definitions))
    t.ok(codes.length > 0, file)
    t.same(
      codes.filter((code) => !Object.hasOwn(errorDefinitions, code)),
      [],
      file,
    )
  }
})

t.test('the bridge declares no code of the server or its apps', async (t) => {
  const codes = documented.flatMap(({ errors }) => Object.keys(errors))
  t.same(
    Object.keys(BridgeError.definitions).filter((code) => codes.includes(code)),
    [],
  )
})

t.test('each package has a row in the table and imports only packages above it', async (t) => {
  const packages = readPackages(repository)
  const rows = packageTable(packages)
    .split('\n')
    .slice(2)
    .map((line) => /^\| `(?:packages\/)?([a-z-]+)` \| .+ \| (.+) \|$/.exec(line))
  const names = rows.map((row) => row?.[1] ?? '')
  t.equal(new Set(names).size, packages.length)
  for (const [index, row] of rows.entries())
    for (const [, name = ''] of row?.[2]?.matchAll(/`([a-z-]+)`/g) ?? [])
      t.ok(names.slice(0, index).includes(name), `${names[index]} imports ${name}`)
  t.match(rows.at(-1)?.slice(1), ['server', /^every app, `app-kit`/])
})

t.test('docs: a row of the data folder shows its owner and whether backups include it', async (t) => {
  const made = dataTable([
    { path: 'a.db', kind: 'database', app: 'A' },
    { path: 'b/', kind: 'passing', app: 'B' },
  ])
  t.match(made, '| `a.db` | A | SQLite | yes, copied by SQLite |\n| `b/` | B | files | no, transient |')
})

t.test('docs summarizes JSON Schemas', async (t) => {
  t.equal(typeText({ type: 'integer', minimum: 1 }), 'integer >= 1')
  t.equal(typeText({ enum: ['a', 'b'] }), '"a" | "b"')
  t.equal(typeText({ type: 'array', items: { type: ['string', 'null'] } }), '(string | null)[]')
  t.equal(typeText({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'string | null')
  t.equal(typeText({}), 'any')
})

const text = readFileSync(new URL('../docs/security.md', import.meta.url), 'utf8')

t.test('docs/security.md: every threat names a test that exists', async (t) => {
  const rows = text
    .slice(text.indexOf('## Threats'), text.indexOf('Not covered:'))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (threat|---)/.test(line))
  t.ok(rows.length > 10)
  for (const row of rows) {
    const [, threat = '', , proofs = ''] = row.split('|')
    const ids = [...proofs.matchAll(/`([^`]+)`/g)].map(([, id]) => id as string)
    t.ok(ids.length > 0, threat)
    for (const id of ids) t.ok(Object.hasOwn(requirements, id), `${threat}: ${id}`)
  }
})

t.test('docs/security.md names only settings and error codes that exist', async (t) => {
  const known = new Set<unknown>([
    ...Object.values(settings).map(({ env }) => env),
    ...Object.keys(errorDefinitions),
  ])
  for (const [, name = ''] of text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)) t.ok(known.has(name), name)
})

/** Packages work without the server, on defaults of their own: those of the settings. */

t.test('settings: each default equals the default of its app', async (t) => {
  const owned: Partial<Record<SettingKey, unknown>> = {
    snapshotCapBytes: libraryDefaults.snapshotBytes,
    recordingsCapBytes: libraryDefaults.recorder.maxBytes,
    recordingsMaxAgeDays: libraryDefaults.recorder.maxAgeMs / 86_400_000,
    helpChunkSize: defaultSize.size,
    helpOverlapSize: defaultSize.overlap,
    embeddingsModel: defaultModel.name,
    plotSaveMs: plotIntervals.saveAfterMs,
    plotCheckMs: plotIntervals.checkEveryMs,
    trmParallel: defaultMaxParallel,
  }
  const declared = Object.keys(owned).map((key) => [key, settings[key as SettingKey].schema.parse(undefined)])
  t.same(Object.fromEntries(declared), owned)
  t.match(settings.embeddingsDimensions.defaultText, String(defaultModel.dimensions))
})
