/** Compares what the server sends, stores and measures with the transcripts in `wire/corpus`. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { until } from './e2e/condition.ts'
import { fromSource, startServer } from './e2e/server-process.ts'
import { repository } from './tree.ts'
import { aliasRoute, lenientRoute } from './wire/cases/lenient.ts'
import { appRoute, operationsRoute, restRoute, socketRoute } from './wire/cases/plain-http.ts'
import { olderSessionRoutes, sessionRoute } from './wire/cases/session.ts'
import { sseRoute } from './wire/cases/sse.ts'
import { statelessRoute } from './wire/cases/stateless.ts'
import { tokenFile, tokenRoute, writerToken } from './wire/cases/tokens.ts'
import { Conversation, type Route } from './wire/conversation.ts'
import {
  describeJsonColumns,
  describeMetrics,
  describeSchemas,
  jsonPaths,
  readKeys,
} from './wire/data-formats.ts'
import { normalize } from './wire/normalize.ts'

t.setTimeout(120_000)

const isRecording = process.env.CAUSEWAY_RECORD_WIRE === 'true'
const app = fileURLToPath(new URL('wire/sample-app.ts', import.meta.url))
const corpus = fileURLToPath(new URL('wire/corpus', import.meta.url))

const folders = t.testdir({ open: {}, tokens: {}, pages: { 'page.md': '# Page\n\nText.\n' } })
writeFileSync(join(folders, 'tokens.txt'), tokenFile, { mode: 0o600 })

const limits = {
  CAUSEWAY_USER_APPS: app,
  CAUSEWAY_PAGE_SIZE: '12',
  CAUSEWAY_BODY_LIMIT_BYTES: '65536',
}

const [open, closed] = await Promise.all([
  startServer(t, {
    dir: join(folders, 'open'),
    env: {
      ...limits,
      CAUSEWAY_APPS: 'Sample',
      CAUSEWAY_ALLOWED_ORIGINS: 'http://tool.example',
      CAUSEWAY_LISTEN: 'sample:0',
      CAUSEWAY_LEGACY_ERRORS: 'true',
    },
  }),
  startServer(t, {
    dir: join(folders, 'tokens'),
    env: {
      ...limits,
      CAUSEWAY_TOKEN_FILE: join(folders, 'tokens.txt'),
      CAUSEWAY_HELP_SOURCES: `pages=${join(folders, 'pages')}`,
      CAUSEWAY_HELP_BUILD: 'true',
    },
  }),
])

const placeholders = {
  [join(folders, 'open')]: '<data>',
  [join(folders, 'tokens')]: '<data>',
  [repository]: '<repository>',
}

/** Records the cases of a route one after the other and compares each with the corpus. */
async function replay(t: Test, { name, cases }: Route, connect: () => Conversation): Promise<void> {
  const texts = new Map<string, string>()
  for (const { title, run } of cases) {
    const conversation = connect()
    try {
      await run(conversation)
    } catch (error) {
      t.fail(`${title}: ${error}`)
    } finally {
      conversation.close()
    }
    t.notOk(texts.has(title), `${title} is the title of one case`)
    texts.set(title, normalize(conversation.text, placeholders))
  }
  const file = `${name}.txt`
  if (isRecording) writeFileSync(join(corpus, file), joinCases(texts))
  const expected = splitCases(readFileSync(join(corpus, file), 'utf8'))
  t.same([...texts.keys()], [...expected.keys()], 'the cases of the corpus')
  for (const [title, text] of texts) t.equal(text, expected.get(title), title)
}

const joinCases = (texts: ReadonlyMap<string, string>): string =>
  [...texts].map(([title, text]) => `== ${title}\n${text}`).join('\n')

const splitCases = (text: string): Map<string, string> =>
  new Map(
    text
      .split(/^== /m)
      .slice(1)
      .map((part) => {
        const [title = ''] = part.split('\n', 1)
        return [title, part.slice(title.length + 1).replace(/\n\n$/, '\n')]
      }),
  )

/** Compares a text with a file of the corpus. */
function compare(t: Test, name: string, text: string): void {
  const file = join(corpus, name)
  if (isRecording) writeFileSync(file, text)
  t.equal(text, existsSync(file) ? readFileSync(file, 'utf8') : '', name)
}

for (const route of [
  statelessRoute,
  sessionRoute,
  ...olderSessionRoutes,
  lenientRoute,
  sseRoute,
  restRoute,
  appRoute,
  socketRoute,
  operationsRoute,
])
  t.test(`${route.name}: the server sends what the corpus contains`, (t) =>
    replay(t, route, () => new Conversation(open.url)),
  )

t.test('alias: the server sends what the corpus contains', async (t) => {
  const { url } = await open.server.log.first('the port of the app', ({ app }) => app === 'sample')
  await replay(t, aliasRoute, () => new Conversation(new URL(url).origin, { control: open.url }))
})

t.test('tokens: the server sends what the corpus contains', (t) =>
  replay(t, tokenRoute, () => new Conversation(closed.url, { token: writerToken })),
)

t.test('metrics: names, labels and types are those of the corpus', async (t) => {
  const response = await fetch(`${closed.url}/metrics`, {
    headers: { authorization: `Bearer ${writerToken}` },
  })
  compare(t, 'metrics.txt', describeMetrics(await response.text()))
})

t.test('data: files, schemas and keys of JSON are those of the corpus', async (t) => {
  const dir = join(folders, 'tokens')
  const headers = { authorization: `Bearer ${writerToken}`, 'content-type': 'application/json' }
  const get = (path: string) => fetch(`${closed.url}${path}`, { headers })
  const callTool = async (path: string, args: object): Promise<void> => {
    const url = `${closed.url}/api/apps/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(args) })
    t.equal(response.status, 200, await response.text())
  }
  await callTool('replay/tools/load_recording', { path: 'drop' })
  await until(
    // biome-ignore lint/suspicious/noExplicitAny: the report of all apps
    () => get('/health').then((response) => response.json() as Promise<any>),
    ({ apps }) => apps.Help.docs === 1,
  )
  await callTool('causeway/tools/make_backup', {})
  const entries = (await (await get('/api/apps/causeway/audit.jsonl')).text()).trimEnd().split('\n')
  const serverFile = readKeys(join(dir, 'server.json'))
  await closed.server.stop()
  execFileSync(process.execPath, [...fromSource, 'roots', 'add', '--data-dir', dir, dir])
  const [backup = ''] = readdirSync(join(dir, 'backups'))
  const sections = {
    'files of the data folder': readdirSync(dir)
      .filter((name) => !/-(wal|shm)$/.test(name))
      .sort(),
    'server.json': serverFile,
    'roots.json': readKeys(join(dir, 'roots.json')),
    'causeway-backup.json': readKeys(join(dir, 'backups', backup, 'causeway-backup.json')),
    'audit.jsonl': [...new Set(entries.flatMap(jsonPaths))].sort(),
    'server.db': describeJsonColumns(join(dir, 'server.db')),
  }
  const text = Object.entries(sections).map(([title, lines]) => `== ${title}\n${lines.join('\n')}\n`)
  compare(t, 'json-keys.txt', text.join('\n'))
  compare(t, 'schemas.txt', normalize(describeSchemas(dir), placeholders))
})
