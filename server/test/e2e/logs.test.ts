/** Logs of real servers. */
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { verifies } from '../../../test/verifies.ts'
import { both, initializeMessage, modern, rpc, toolCall } from '../http/open-wire.ts'
import { readLogFiles } from '../test-core.ts'

/** Starts a server, stops it when it is ready, and returns its standard error. */
async function startPretty(t: Test, dir: string, env: Readonly<Record<string, string>>): Promise<string> {
  const server = spawnServer(t, { dir, env })
  await server.log.first('the address', ({ text }) => String(text).startsWith('Causeway is ready at'))
  await server.stop()
  return server.stderr
}

const planted = (name: string): string => `planted-${name}-0123456789abcdef`

const secrets = [
  'token',
  'wrong-token',
  'key',
  'cookie',
  'argument',
  'unknown-argument',
  'session',
  'header',
].map(planted)

/** Sends secrets in every part of requests to every route. Returns the responses. */
async function requestEverything(url: string): Promise<string[]> {
  const fields = {
    authorization: `Bearer ${planted('token')}`,
    cookie: `id=${planted('cookie')}`,
    'causeway-session': planted('session'),
    'x-api-key': planted('header'),
  }
  const json = { ...fields, 'content-type': 'application/json' }
  const args = { password: planted('argument'), [planted('unknown-argument')]: 1 }
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...json, ...more }, body: JSON.stringify(body) })
  const get = (path: string, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers: { ...fields, ...more } })
  const stateless = modern(toolCall('Causeway__list_apps', args))
  const responses = [
    await post('/mcp', rpc('ping')),
    await post('/mcp', initializeMessage(), both),
    await post('/mcp', stateless.body, stateless.headers),
    await post('/mcp', toolCall('Causeway__list_apps', { limit: planted('argument') })),
    await post('/mcp', rpc('no/such', { token: planted('argument') })),
    await post('/mcp/replay', toolCall('load_recording', { path: '/etc/shadow' })),
    await post('/api/apps/causeway/tools/list_apps', {}),
    await get('/api/apps/causeway/audit.jsonl'),
    await get('/api/apps'),
    await get('/health'),
    await get('/metrics'),
    await get('/openapi.json'),
    await get('/mcp', { authorization: `Bearer ${planted('wrong-token')}` }),
    await get('/health', { origin: 'https://evil.example' }),
    await get('/nowhere'),
  ]
  // An error may repeat the arguments of its own request.
  const repeatable = [planted('argument'), planted('unknown-argument')]
  const texts = await Promise.all(responses.map((response) => response.text()))
  return texts.map((text) => repeatable.reduce((shown, secret) => shown.replaceAll(secret, ''), text))
}

function checkNoSecrets(t: Test, place: string, text: string): void {
  for (const secret of secrets) t.notOk(text.includes(secret), `${place}: ${secret.split('-0')[0]}`)
}

verifies('log:secrets', async (t) => {
  const dir = t.testdir({ tokens: `${planted('token')} laptop\n` })
  chmodSync(`${dir}/tokens`, 0o600)
  const env = {
    EXTRA_LOGGING: 'true',
    CAUSEWAY_LOG_FILES: 'true',
    CAUSEWAY_TOKEN_FILE: `${dir}/tokens`,
    OPENROUTER_API_KEY: planted('key'),
  }
  const { url, server } = await startServer(t, { dir, env })
  for (const text of await requestEverything(url)) checkNoSecrets(t, 'a response', text)
  await server.stop()
  t.match(server.stderr, '[MCP]', 'protocol details are logged')
  checkNoSecrets(t, 'stdout', server.stdout)
  checkNoSecrets(t, 'stderr', server.stderr)
  const files = readdirSync(`${dir}/logs`)
  t.equal(files.length, 3)
  for (const file of files) checkNoSecrets(t, file, readFileSync(`${dir}/logs/${file}`, 'utf8'))
  // Closing a database file drops its locks, so the files are read after the server has stopped.
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.db')))
    for (const secret of [planted('token'), planted('key'), planted('argument'), planted('cookie')])
      t.notOk(readFileSync(`${dir}/${file}`).includes(secret), `${file}: ${secret}`)
})

verifies('log:format', async (t) => {
  const pretty = await startPretty(t, t.testdir(), { CAUSEWAY_LOG_FORMAT: 'pretty' })
  const lines = pretty.split('\n')
  t.match(lines[0], /^\[\d\d:\d\d:\d\d\] INFO: .+/, 'one readable line per entry')
  t.match(pretty, /\nCauseway is ready at http:\/\/127\.0\.0\.1:\d+\n/)
  t.match(pretty, /^ {2}apps +Causeway \d+, Replay \d+.*: \d+ tools$/m)
  t.match(pretty, /^ {2}connect +claude mcp add --transport http causeway http:\/\/127\.0\.0\.1:\d+\/mcp$/m)
  t.match(pretty, /^ {2}console +http:\/\/127\.0\.0\.1:\d+\/ in a browser$/m)
  t.match(pretty, /^ {2}try +causeway call replay list_recordings$/m)
})

verifies('log:format', 'log files are JSON, and the level applies to every log', async (t) => {
  const dir = t.testdir()
  const output = await startPretty(t, dir, { CAUSEWAY_LOG_FORMAT: 'pretty', CAUSEWAY_LOG_LEVEL: 'warn' })
  t.notMatch(output, 'INFO')
  t.same(
    readLogFiles(dir, 'server').map((file) => file.text),
    [''],
  )
  const again = t.testdir()
  await startPretty(t, again, { CAUSEWAY_LOG_FORMAT: 'pretty' })
  const [file] = readLogFiles(again, 'server')
  t.equal(JSON.parse(file?.text.split('\n')[0] ?? '').level, 30, 'file logs are on by default')
})

verifies('log:files', 'a stopping server writes its last lines', async (t) => {
  const dir = t.testdir()
  const { url, server } = await startServer(t, { dir, env: { CAUSEWAY_LOG_FILES: 'true' } })
  const call = await fetch(`${url}/api/apps/causeway/tools/list_apps`, { method: 'POST' })
  t.equal(call.status, 200)
  await server.stop()
  const text = (name: string) =>
    readLogFiles(dir, name)
      .map((file) => file.text)
      .join('')
  t.match(text('server'), '"msg":"stopped"')
  t.match(JSON.parse(text('audit')), { toolName: 'list_apps', success: true, service: 'causeway' })
})

verifies('log:format', 'the address is printed at every log level', async (t) => {
  for (const level of ['warn', 'error']) {
    const { server } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_LOG_LEVEL: level } })
    await server.stop()
    t.equal(server.stderr.trim().split('\n').length, 1, level)
  }
})
