import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorMetaKey } from '@causeway/protocol'
import t from 'tap'
import type { Channel } from '../requirement.ts'
import { inCI, isComplete } from '../tier.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { getJson, postMcp } from './http.ts'
import { openPeer, type Peer } from './peer.ts'
import { cleanEnv, startServer } from './server-process.ts'

t.setTimeout(300_000)

const canary = 'the quokka zanzibarcanary sentence'
const folder = t.testdir({
  data: {},
  docs: { 'hooks.md': '# Hooks\n\nA hook runs before the handler.' },
  internal: { 'plan.md': `# Planning\n\nhere stands ${canary} and no more` },
})
const run = promisify(execFile)
const sources = [
  // The whole documentation takes several seconds of processor time.
  isComplete ? 'own' : 'pkg:fastify',
  `mine=${join(folder, 'docs')}`,
  `internal:secret=${join(folder, 'internal')}`,
].join(',')
const { url, server } = await startServer(t, {
  dir: join(folder, 'data'),
  env: { CAUSEWAY_HELP_BUILD: 'true', CAUSEWAY_HELP_SOURCES: sources },
})

const peers: Readonly<Record<'http' | 'bridge', Peer>> = {
  http: await openPeer(t, 'http', url),
  bridge: await openPeer(t, 'bridge', url),
}
let calls = 0

/** Resolves when the server has indexed everything. */
const untilIdle = () =>
  until(
    async () => (await getJson(url, '/health')).json,
    (health) =>
      JSON.stringify(health).includes('"indexing":null') &&
      JSON.stringify(health).includes('"mode":"hybrid"'),
  )

/** Resolves when the first index exists. On a busy machine, building it can exceed the timeout of a query. */
const untilIndexed = () =>
  until(
    async () => (await getJson(url, '/health')).json,
    (health) => /"mode":"(lexical|hybrid)"/.test(JSON.stringify(health)),
  )

/** Returns the data of a call, or its error object. */
async function call(channel: Channel, tool: string, args: object) {
  const peer = channel === 'bridge' ? peers.bridge : peers.http
  const { result } = await peer.call(`call-${++calls}`, 'tools/call', { name: tool, arguments: args })
  return result.isError === true ? result._meta[errorMetaKey] : result.structuredContent
}

verifies('help:e2e:story', async (t, channel) => {
  await untilIndexed()
  const found = await call(channel, 'Help__find_help_topics', {
    text: 'what is the limit for the size of a request body in fastify',
    top_n: 5,
  })
  t.match(found.results[0], { source: 'pkg:fastify', chunks: [{ start_line: Number }] })
  const [{ doc_id, chunks }] = found.results
  const [{ start_line, end_line, text }] = chunks
  const page = await call(channel, 'Help__get_help_document', {
    doc_id,
    from_line: start_line,
    max_lines: end_line - start_line + 1,
  })
  t.equal(page.content, text, 'the lines of a result match its text')
  t.match(await call(channel, 'Help__find_help_topics', { text: 'hook', source: 'mine' }), {
    results: [{ title: 'Hooks' }],
  })
  t.match(await call(channel, 'Help__find_help_topics', { text: 'hook', include_internal: true }), {
    code: 'HELP_INTERNAL_FORBIDDEN',
  })
  t.match(await call(channel, 'Help__find_help_topics', { text: 'hook', topn: 1 }), {
    code: 'INVALID_ARGUMENTS',
  })
})

verifies(
  'help:alias',
  inCI(async (t) => {
    const { json } = await postMcp(url, 'tools/list', {})
    const names = json.result.tools.map(({ name }: { name: string }) => name)
    t.ok(names.includes('Help__find_help_topics'))
    t.notOk(names.some((name: string) => name.startsWith('MonadicHelpOpenAI__')))
    for (const [tool, args] of [
      ['find_help_topics', { text: 'hook' }],
      ['search_help_by_section', { text: 'hook', section: 'General' }],
      ['list_help_sections', {}],
      ['get_help_document', { file_path: 'mine/hooks.md' }],
    ] as const) {
      const result = await call('http', `MonadicHelpOpenAI__${tool}`, args)
      t.notOk('code' in result, tool)
    }
  }),
)

verifies(
  'help:curl',
  inCI(async (t) => {
    const line = `curl -X POST http://localhost:3100/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {
      "name": "MonadicHelpOpenAI__find_help_topics",
      "arguments": {"text": "test query"}
    }
  }'`
    const { stdout } = await run('sh', ['-c', line.replace('http://localhost:3100', url)])
    const { id, result } = JSON.parse(stdout)
    t.equal(id, 3)
    t.ok(result.structuredContent.results.length > 0)
    t.same(JSON.parse(result.content[0].text), result.structuredContent, 'the text is JSON')
  }),
)

verifies(
  'help:e2e:rebuild',
  inCI(async (t) => {
    await untilIdle()
    writeFileSync(join(folder, 'docs/new.md'), '# Newcomer\n\nA freshly written wallaby page.')
    const env = { ...cleanEnv(), CAUSEWAY_DATA_DIR: join(folder, 'data'), CAUSEWAY_HELP_SOURCES: sources }
    const program = ['--conditions=@causeway/source', join(repository, 'scripts/help.ts')]
    const { stdout, stderr } = await run(process.execPath, [...program, 'build_dev'], { env })
    t.match(JSON.parse(stdout), { added: 1, failed: [] })
    t.match(stderr, /deprecated/)
    const found = await call('http', 'Help__find_help_topics', { text: 'wallaby', mode: 'lexical' })
    t.match(found.results, [{ title: 'Newcomer' }], 'the running server uses the new index immediately')
    for (const peer of Object.values(peers)) await peer.saw('notifications/resources/list_changed')
  }),
)

verifies(
  'help:e2e:canary',
  inCI(async (t) => {
    const seen: unknown[] = []
    for (const text of [canary, 'planning', 'secret'])
      seen.push(
        (await call('bridge', 'Help__find_help_topics', { text, top_n: 50, mode: 'lexical' })).results,
      )
    const list = await postMcp(url, 'resources/list', {})
    seen.push(list.json, (await getJson(url, '/health')).json)
    seen.push(await (await fetch(`${url}/metrics`)).text(), server.stderr, server.stdout)
    t.notMatch(JSON.stringify(seen), /zanzibarcanary|"source":"secret"|secret\/plan\.md|here stands/)
    t.match(JSON.stringify(list.json), /help:\/\/doc\//)
  }),
)
