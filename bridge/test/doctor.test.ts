import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { formatClientCommands } from '../src/doctor/client-lines.ts'
import { explainUnreachable, mayStartLater } from '../src/doctor/connection-errors.ts'
import { version } from '../src/version.ts'
import { type Backend, startBackend } from './backend.ts'
import { type Start, startBridge } from './client.ts'

const report = { status: 'ok', version, data_dir: '/data', apps: { Replay: { status: 'ok' } } }

/** Makes the backend a server in which the doctor finds no problems. */
function makeHealthy(backend: Backend): void {
  backend.on('GET', (got) => (got.path === '/health' ? got.json(report) : got.status(405)))
  backend.on('server/discover', (got) => got.result({ supportedVersions: ['2026-07-28'] }))
  backend.on('tools/list', (got) => got.result({ tools: [{ name: 'a' }, { name: 'b' }] }))
  backend.on('ping', (got) => (got.headers.origin === undefined ? got.result({}) : got.status(403)))
}

/** Runs the doctor. Returns its exit code and output. */
async function runDoctor(
  t: import('tap').Test,
  start: Start,
): Promise<{ code: number | null; text: string }> {
  const bridge = startBridge(t, { ...start, args: ['--doctor', ...(start.args ?? [])] })
  const { code } = await bridge.exited
  return { code, text: bridge.lines.join('\n') + bridge.stderr }
}

verifies('bridge:doctor', async (t) => {
  const backend = await startBackend(t)
  makeHealthy(backend)
  const { code, text } = await runDoctor(t, { url: backend.url, env: { TMPDIR: t.testdir() } })
  t.equal(code, 0, text)
  for (const line of [
    /^ok +url +http:\/\/127\.0\.0\.1:\d+\/mcp$/m,
    /^ok +debug log +\/.*mcp_wrapper\.log, written if DEBUG=true$/m,
    /^ok +reachable +yes$/m,
    /^ok +health +ready, apps: Replay$/m,
    /^ok +version/m,
    /^ok +data +\/data$/m,
    /^ok +initialize +backend 1, protocol 2025-11-25$/m,
    /^ok +discover +protocol 2026-07-28$/m,
    /^ok +tools +2 tools, 1 kB$/m,
    /^ok +origin/m,
    /claude mcp add causeway -e MCP_SERVER_URL=http:\/\/127\.0\.0\.1:\d+\/mcp -- \S+ \S+main\.ts$/m,
    /No problems found/,
  ])
    t.match(text, line)
  t.notMatch(text, /^(warn|fail)/m)
  const snippet = JSON.parse(text.slice(text.indexOf('\n  {') + 1, text.lastIndexOf('}') + 1))
  t.match(snippet, { mcpServers: { causeway: { type: 'stdio', env: { MCP_SERVER_URL: backend.url } } } })
  t.same(snippet.mcpServers.causeway.args.includes('--doctor'), false)
  t.ok(backend.methods().includes('DELETE'), 'its session is deleted')
  const opened = backend.got.all.find(({ message }) => message?.method === 'notifications/initialized')
  t.equal(opened?.message.id, undefined, 'its handshake is complete')
})

verifies(
  'bridge:doctor',
  'the doctor reports each problem of the server with a fix',
  inCI(async (t) => {
    const problems: [RegExp, 0 | 1, (backend: Backend) => void][] = [
      [
        /^warn +version .*\n +-> restart the server/m,
        0,
        (b) => b.on('GET', (got) => got.json({ ...report, version: '0.0.1' })),
      ],
      [
        /^warn +health +degraded: Help\n/m,
        0,
        (b) =>
          b.on('GET', (got) =>
            got.json({ ...report, status: 'degraded', apps: { Help: { status: 'failed' } } }),
          ),
      ],
      [/^ok +health +no \/health/m, 0, (b) => b.on('GET', (got) => got.status(404))],
      [/^fail +token .*\n.*--token-file/m, 1, (b) => b.on('initialize', (got) => got.status(401))],
      [/^fail +host /m, 1, (b) => b.on('initialize', (got) => got.status(403, 'FORBIDDEN_HOST'))],
      [
        /^fail +protocol .*HTTP 404/m,
        1,
        (b) => {
          b.on('initialize', (got) => got.status(404))
          b.on('server/discover', (got) => got.status(404))
        },
      ],
      [/^ok +initialize +not supported/m, 0, (b) => b.on('initialize', (got) => got.status(400))],
      [/^ok +discover +not supported/m, 0, (b) => b.on('server/discover', (got) => got.status(400))],
      [/^warn +tools +0 tools/m, 0, (b) => b.on('tools/list', (got) => got.result({ tools: [] }))],
      [/^fail +tools /m, 1, (b) => b.on('tools/list', (got) => got.status(500))],
      [
        /^warn +tools .*\n.*--only/m,
        0,
        (b) => b.on('tools/list', (got) => got.result({ tools: ['x'.repeat(200_000)] })),
      ],
      [/^warn +origin /m, 0, (b) => b.on('ping', (got) => got.result({}))],
    ]
    for (const [line, code, breakServer] of problems) {
      const backend = await startBackend(t)
      makeHealthy(backend)
      breakServer(backend)
      const found = await runDoctor(t, { url: backend.url })
      t.match(found, { code, text: line })
    }
  }),
)

verifies('bridge:doctor', 'the doctor reports why the server is unreachable', async (t) => {
  const backend = await startBackend(t)
  const tls = backend.url.replace('http:', 'https:')
  const closed = backend.url
  t.match(await runDoctor(t, { url: tls }), {
    code: 1,
    text: /^fail +reachable +the port uses another protocol/m,
  })
  await backend.stop()
  const refused = await runDoctor(t, { url: closed, env: { HTTPS_PROXY: 'http://127.0.0.1:9' } })
  const later = await runDoctor(t, { url: closed, args: ['--autostart'] })
  t.match(later, { code: 0, text: /^ok +reachable +no server is running; the first call/m })
  t.match(refused, { code: 1, text: /^fail +reachable +no server is running there .*\n +-> .*--proxy env$/m })
  t.match(await runDoctor(t, { url: 'http://no-such-host.invalid/mcp' }), {
    code: 1,
    text: /^fail +reachable/m,
  })
  const other = createServer((_request, response) => void response.socket?.end('SSH-2.0-x\r\n'))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  t.match(await runDoctor(t, { url: `http://127.0.0.1:${port}/mcp` }), {
    code: 1,
    text: /uses another protocol \(H/,
  })
})

t.test('explainUnreachable reports the innermost cause of a failed connection', async (t) => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const expected = { text: 'no server is running there (ECONNREFUSED)' }
  for (const error of [
    refused,
    new TypeError('fetch failed', { cause: refused }),
    new AggregateError([refused, new Error('another address')]),
    new TypeError('fetch failed', { cause: new AggregateError([refused]) }),
  ]) {
    t.match(explainUnreachable(error, undefined, {}), expected)
    t.ok(mayStartLater(error))
  }
  t.notOk(mayStartLater(new Error('other')))
})

verifies('bridge:doctor', 'the doctor rejects a token file that other users can read', async (t) => {
  const path = join(t.testdir(), 'token')
  writeFileSync(path, 'hidden-value')
  chmodSync(path, 0o644)
  const { code, text } = await runDoctor(t, { args: ['--token-file', path] })
  t.equal(code, 1)
  t.match(text, /^fail +settings .*\n +-> run chmod 600/m)
  t.notMatch(text, 'hidden-value')
})

t.test('formatClientCommands quotes arguments for the shell and omits header values', async (t) => {
  const text = formatClientCommands({
    node: '/opt/my node',
    script: '/b.js',
    args: ['--doctor', '--header', 'X-Key: hidden', '--header=Y: hidden', '--only', "it's"],
    env: { MCP_SERVER_URL: 'http://a/mcp', PATH: '/bin' },
  })
  t.match(
    text,
    `claude mcp add causeway -e MCP_SERVER_URL=http://a/mcp -- '/opt/my node' /b.js --header 'X-Key: <value>' '--header=Y: <value>' --only 'it'\\''s'`,
  )
  t.notMatch(text, 'hidden')
  t.notMatch(text, '/bin')
})
