/** Secrets that are planted wherever one may come by, and every place where one could show. */
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { openLog } from '../src/log.ts'
import { both, initializeMessage, modern, rpc, toolCall } from './http/open-wire.ts'

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

/** Asks everything that answers, as a caller who lets its secrets go by every way. Gives the texts that came back. */
async function provoke(url: string): Promise<string[]> {
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
  const answers = [
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
  // What a caller sent as an argument may come back to it, by name, in the error that refuses it.
  const own = [planted('argument'), planted('unknown-argument')]
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  return texts.map((text) => own.reduce((shown, secret) => shown.replaceAll(secret, ''), text))
}

function clean(t: Test, place: string, text: string): void {
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
  for (const text of await provoke(url)) clean(t, 'an answer', text)
  await server.stop()
  t.match(server.stderr, '[MCP]', 'the protocol was logged')
  clean(t, 'stdout', server.stdout)
  clean(t, 'stderr', server.stderr)
  const files = readdirSync(`${dir}/logs`)
  t.equal(files.length, 3)
  for (const file of files) clean(t, file, readFileSync(`${dir}/logs/${file}`, 'utf8'))
  // Stopped: no connection of this process has it open.
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.db')))
    for (const secret of [planted('token'), planted('key'), planted('argument'), planted('cookie')])
      t.notOk(readFileSync(`${dir}/${file}`).includes(secret), `${file}: ${secret}`)
})

t.test('log: what bears the name of a secret is left out, however the line holds it', async (t) => {
  const lines: string[] = []
  const log = openLog({ extra: true, destination: { write: (line) => void lines.push(line) } })
  const secret = planted('key')
  log.info({ authorization: secret, headers: { authorization: secret, cookie: secret } }, 'a line')
  log.info({ request: { body: { apiKey: secret, api_key: secret, password: secret } } }, 'a line')
  log.error({ token: secret, settings: { secret } }, 'a line')
  t.notMatch(lines.join(''), secret)
  t.equal(lines.length, 3)
})
