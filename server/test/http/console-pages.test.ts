import { writeFileSync } from 'node:fs'
import { verifies } from '../../../test/verifies.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { captureLog } from '../test-core.ts'
import { openWire } from './open-wire.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const built = {
  'index.html': '<title>Causeway</title>',
  assets: { 'index-a1.js': 'export {}', 'a.txt': 'x' },
}
const get = (path: string, headers: Readonly<Record<string, string>> = html) =>
  ({ method: 'GET', path, headers }) as const

verifies('console:pages:served', async (t) => {
  const folder = t.testdir({ pages: built, data: {} })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  for (const path of ['/', '/apps', '/apps/demo', '/apps/demo/echo']) {
    const page = await send(undefined, get(path))
    t.match(page, {
      status: 200,
      text: '<title>Causeway</title>',
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
    })
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.match(policy, /frame-ancestors 'none'/)
    t.notMatch(policy, /unsafe|http/)
  }
  t.match(await send(undefined, get('/assets/index-a1.js')), {
    status: 200,
    text: 'export {}',
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': /immutable/ },
  })
})

verifies('console:pages:served', 'other paths, files and formats keep their error', async (t) => {
  const folder = t.testdir({ pages: built, data: {}, 'outside.js': 'x' })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  const missing = { status: 404, json: { code: 'ROUTE_NOT_FOUND' } }
  for (const path of [
    '/nothing',
    '/assets/none.js',
    '/assets/a.txt',
    `/assets/${encodeURIComponent('../../outside.js')}`,
  ])
    t.match(await send(undefined, get(path)), missing, path)
  t.match(await send(undefined, get('/', { accept: '*/*' })), missing, 'a client that does not request HTML')
  t.match(await send({}, { path: '/', headers: html }), missing, 'POST')
})

verifies('console:pages:not-built', async (t) => {
  const folder = t.testdir({ data: {} })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  t.match(await send(undefined, get('/')), {
    status: 503,
    text: /npm run build/,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /default-src 'none'/ },
  })
})

verifies('console:pages:public', async (t) => {
  const folder = t.testdir({ pages: built, data: {} })
  const file = `${folder}/tokens`
  writeFileSync(file, 'token-of-the-console-test-0123456789abcdef console *:read\n', { mode: 0o600 })
  const { send } = await openWire(t, {
    dir: `${folder}/data`,
    consolePages: `${folder}/pages`,
    tokens: new TokenFile(file, { log: captureLog().log }),
  })
  for (const path of ['/', '/assets/index-a1.js']) {
    t.match(await send(undefined, get(path)), { status: 200 }, path)
    const foreign = [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ]
    for (const headers of foreign)
      t.match(
        await send(undefined, get(path, { ...html, ...headers })),
        { status: 403 },
        JSON.stringify(headers),
      )
  }
  t.match(await send(undefined, get('/api/apps')), { status: 401 }, 'data still requires a token')
})
