/** Host and Origin, on every kind of route. */
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openWire, rpc, type Sending, type Wire } from './open-wire.ts'

const routes: readonly (Sending & { body?: unknown })[] = [
  { path: '/mcp', body: rpc('tools/list') },
  { path: '/mcp', method: 'GET', headers: { accept: 'text/event-stream' } },
  { path: '/mcp', method: 'DELETE' },
  { path: '/mcp/demo', body: rpc('tools/list') },
  { path: '/health', method: 'GET' },
  { path: '/metrics', method: 'GET' },
  { path: '/openapi.json', method: 'GET' },
  { path: '/api/apps', method: 'GET' },
  { path: '/api/apps/demo/tools/echo', body: { text: 'x' } },
  { path: '/api/apps/wire/drip', method: 'GET' },
  { path: '/api/registry/refresh', method: 'POST' },
  { path: '/nothing/here', method: 'GET' },
  { path: '/health', method: 'DELETE' },
  { path: '/mcp', method: 'OPTIONS' },
]

async function refused(t: Test, wire: Wire, given: Record<string, string>, code: string): Promise<void> {
  for (const { body, ...route } of routes) {
    const { status, text } = await wire.send(body, { ...route, headers: { ...route.headers, ...given } })
    t.equal(status, 403, `${route.method ?? 'POST'} ${route.path}`)
    t.match(text, code)
  }
}

verifies('wire:guard:host', async (t) => {
  const wire = await openWire(t)
  await refused(t, wire, { host: 'evil.example:3100' }, 'FORBIDDEN_HOST')
})

verifies('wire:guard:origin', async (t) => {
  const wire = await openWire(t)
  await refused(t, wire, { origin: 'http://evil.example' }, 'FORBIDDEN_ORIGIN')
})

t.test('guard: a link that a person follows opens, what a page of another site loads does not', async (t) => {
  const wire = await openWire(t)
  const status = async (mode: string, dest: string, site = 'cross-site') =>
    (
      await wire.send(undefined, {
        method: 'GET',
        path: '/health',
        headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
      })
    ).status
  t.equal(await status('navigate', 'document'), 200)
  t.equal(await status('cors', 'empty', 'same-origin'), 200)
  t.equal(await status('navigate', 'document', 'none'), 200)
  for (const [mode, dest] of [
    ['no-cors', 'image'],
    ['no-cors', 'script'],
    ['navigate', 'iframe'],
  ] as const)
    t.equal(await status(mode, dest), 403, dest)
})

t.test('guard: loopback names and addresses pass in every notation, with any port', async (t) => {
  const { send } = await openWire(t, { allowedHosts: ['Causeway.Internal', '[fd00::1]'] })
  const good = [
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1:3100',
    '127.8.9.1',
    '[::1]:80',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    'causeway.internal:8080',
    '[FD00:0::1]',
  ]
  for (const host of good) t.equal((await send(rpc('ping'), { headers: { host } })).status, 200, host)
  const evil = [
    'localhost.evil.example',
    'evil.example',
    '128.0.0.1',
    '[::2]',
    'localhost@evil.example',
    'evil.example#localhost',
    'localhost/x',
    '127.0.0.1.evil.example',
    'localhost:80:80',
    '0.0.0.0',
  ]
  for (const host of evil) t.equal((await send(rpc('ping'), { headers: { host } })).status, 403, host)
})

t.test('guard: pages of the loopback interface pass, opaque and odd origins do not', async (t) => {
  const { send } = await openWire(t)
  for (const origin of ['http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:3000'])
    t.equal((await send(rpc('ping'), { headers: { origin } })).status, 200, origin)
  for (const origin of [
    'null',
    'file://',
    'ftp://localhost',
    'http://localhost.evil.example',
    'http://x@evil.example',
  ])
    t.equal((await send(rpc('ping'), { headers: { origin } })).status, 403, origin)
})
