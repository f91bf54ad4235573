// cspell:ignore fdots
import { cpSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { fetchSite, isPrivateAddress, siteLimits } from '../src/sources/llms-site.ts'
import { openApp } from './help-kit.ts'

type Route = string | ((response: ServerResponse, request: IncomingMessage) => void)

/** Starts a site. A route is a function, or a text that is sent as Markdown. Records the requested paths. */
async function startSite(t: Test, routes: Record<string, Route>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.push(path)
    const route = routes[path]
    if (route === undefined) response.writeHead(404).end()
    else if (typeof route === 'string')
      response.writeHead(200, { 'content-type': 'text/markdown' }).end(route)
    else route(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, routes }
}

const send =
  (type: string, body: string | Uint8Array): Route =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(body)

const redirect =
  (location: string): Route =>
  (response) =>
    response.writeHead(302, { location }).end()

async function fetchInto(
  t: Test,
  url: string,
  limits: Partial<typeof siteLimits> = {},
  origins: string[] = [],
) {
  const folder = join(t.testdir(), 'site')
  const progress: string[] = []
  const missed = await fetchSite({ url, origins }, folder, {
    signal: new AbortController().signal,
    progress: (done, total) => void progress.push(`${done}/${total}`),
    limits: { ...siteLimits, ...limits },
  })
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  return { folder, missed, files, progress, read: (path: string) => readFileSync(join(folder, path), 'utf8') }
}

verifies('help:source:site', 'the pages of a site are fetched once and can be searched', async (t) => {
  const site = await startSite(t, {
    '/docs/llms.txt':
      '# Widget\n\n> Gauges.\n\n## Guide\n\n- [Zooming](zoom.md): magnify by a pinch\n- [Dials](/docs/dials.html#top): turning\n',
    '/docs/zoom.md': '# Zoom\n\nTwo fingers enlarge the gauge.',
    '/docs/dials.html': send(
      'text/html; charset=iso-8859-1',
      Buffer.from('<h1>Dials f\xfcr all</h1>', 'latin1'),
    ),
  })
  const helpSources = [`widget=${site.origin}/docs/llms.txt`]
  const { app, store } = await openApp(t, { settings: { helpSources } })
  t.match(await store.build(), { added: 3, failed: [], warnings: [] })
  const found = await app.client().call('find_help_topics', { text: 'magnify', source: 'widget' })
  t.match(JSON.stringify(found), /"title":"Zoom"/, 'finds a page by the words of its link')
  t.match(await app.client().call('find_help_topics', { text: 'für' }), {
    results: [{ title: 'Dials für all' }],
  })
  t.equal(site.requests.length, 3)
  t.match(await store.build(), { unchanged: 3 })
  t.equal(site.requests.length, 3, 'the second build fetches nothing')
})

verifies(
  'help:source:site',
  'the pages of a site remain if the server is killed while it replaces them',
  async (t) => {
    const site = await startSite(t, { '/llms.txt': 'Gauges are round.' })
    const helpSources = [`gauges=${site.origin}/llms.txt`]
    const { store, folder } = await openApp(t, { settings: { helpSources } })
    t.match(await store.build(), { added: 1, failed: [] })
    delete site.routes['/llms.txt']
    const sites = join(folder, 'data/help-packages')
    for (const name of readdirSync(sites)) renameSync(join(sites, name), join(sites, `${name}.previous`))
    t.match(await store.build(), { unchanged: 1, removed: 0, failed: [] })
    const [name = ''] = readdirSync(sites)
    cpSync(join(sites, name), join(sites, `${name}.previous`), { recursive: true })
    t.match(await store.build(), { unchanged: 1 })
    t.same(readdirSync(sites), [name])
  },
)

verifies('help:source:site', 'a site that cannot be fetched does not affect other sources', async (t) => {
  const site = await startSite(t, { '/llms.txt': '- [A](/a.md)', '/other.txt': 'A text without links.' })
  const helpSources = [
    `gone=${site.origin}/absent.txt`,
    `empty=${site.origin}/llms.txt`,
    `good=${site.origin}/other.txt`,
    `wrong=${site.origin}/index.html`,
    'bad=http://:x/llms.txt',
  ]
  const { store } = await openApp(t, { settings: { helpSources } })
  const { added, failed } = await store.build()
  t.equal(added, 1)
  const reasons = Object.fromEntries(failed.map(({ file, reason }) => [file, reason]))
  t.match(reasons.gone, /absent\.txt cannot be fetched: the server responded with status 404/)
  t.match(reasons.empty, /none of its 1 pages can be fetched; .*404/)
  t.match(reasons[helpSources[3] ?? ''], /name=https:\/\/host\/llms\.txt/)
  t.match(reasons[helpSources[4] ?? ''], /name=https:\/\/host\/llms\.txt/)
})

verifies('help:source:site', 'hostile pages are reported with their reason', async (t) => {
  const other = await startSite(t, { '/secret.md': 'secret', '/allowed.md': 'allowed' })
  const endless: Route = (response) => {
    response.writeHead(200, { 'content-type': 'text/markdown' })
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }
  const names = `good endless silent loop away image gzip broken line`.split(' ')
  const site = await startSite(t, {
    '/llms.txt': [
      ...names.map((name) => `- [${name}](/${name}.md)`),
      `- [other](${other.origin}/secret.md) [file](file:///etc/passwd) [user](http://a:b@127.0.0.1/)`,
      '- [up](/%2e%2e/%2e%2e/up.md) [dots](/x/..%2f..%2fdots.md) [case](/GOOD.md) [query](/good.md?v=2)',
      '['.repeat(10_000),
    ].join('\n'),
    '/good.md': '# Good',
    '/GOOD.md': '# Capital',
    '/good.md?v=2': '# Query',
    '/up.md': '# Up',
    '/x/..%2f..%2fdots.md': '# Dots',
    '/endless.md': endless,
    '/silent.md': () => undefined,
    '/loop.md': redirect('/loop.md'),
    '/away.md': redirect(`${other.origin}/secret.md`),
    '/image.md': send('image/png', 'x'),
    '/gzip.md': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    '/broken.md': send('text/plain; charset=klingon', Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x41])),
    '/line.md': 'y'.repeat(10 * 2 ** 20),
  })
  const { files, missed, progress, read } = await fetchInto(t, `${site.origin}/llms.txt`, { requestMs: 1500 })
  const reasons = Object.fromEntries(
    missed.map(({ file, reason }) => [file.replace(site.origin, ''), reason]),
  )
  t.match(reasons['/endless.md'], /larger than 2097152 bytes/)
  t.match(reasons['/line.md'], /larger than 2097152 bytes/)
  t.match(reasons['/silent.md'], /no complete response within 1500 ms/)
  t.match(reasons['/loop.md'], /more than 5 redirects/)
  t.match(reasons['/away.md'], /another origin; list it in CAUSEWAY_HELP_ORIGINS/)
  t.match(reasons['/image.md'], /image\/png/)
  t.match(reasons['/gzip.md'], /gzip/)
  t.match(reasons[`${other.origin}/secret.md`], /another origin/)
  t.same(other.requests, [], 'other origins are not requested')
  t.equal(read('broken.md'), '# \ufffd\ufffdA')
  t.equal(files.length, 7, `${files}`)
  t.ok(
    files.every((file) => !file.includes('..') && /^[\w./-]+$/.test(file)),
    'no file is outside the folder',
  )
  t.equal(new Set(files.map((file) => file.toLowerCase())).size, files.length)
  t.ok(progress.includes('14/14'), `${progress}`)
  const allowed = await startSite(t, {
    '/llms.txt': `[a](${other.origin}/allowed.md) [b](${other.origin}/loop.md)`,
  })
  const second = await fetchInto(t, `${allowed.origin}/llms.txt`, {}, [other.origin])
  t.same(second.files, ['127.0.0.1/allowed.md', 'llms.txt'], 'a configured origin is requested')
})

verifies('help:source:site', 'limits apply to the whole site, and a fetch can be cancelled', async (t) => {
  const links = Array.from({ length: 9 }, (_, n) => `[${n}](/${n}.md)`).join(' ')
  const pages = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`/${n}.md`, 'z'.repeat(1000)]))
  const site = await startSite(t, { '/llms.txt': links, ...pages })
  const url = `${site.origin}/llms.txt`
  const few = await fetchInto(t, url, { pages: 4 })
  t.equal(few.files.length, 5)
  t.match(few.missed, Array(5).fill({ reason: 'more than 4 pages' }))
  const small = await fetchInto(t, url, { totalBytes: 4000, parallel: 1 })
  t.ok(small.files.length < 6)
  t.match(small.missed.at(-1)?.reason, /all pages are larger than 4000 bytes/)
  const folder = join(t.testdir(), 'site')
  const controller = new AbortController()
  const slow = await startSite(t, {
    '/llms.txt': '[a](/a.md)',
    '/a.md': () => controller.abort(),
  })
  const call = { signal: controller.signal, progress() {} }
  await t.rejects(fetchSite({ url: `${slow.origin}/llms.txt`, origins: [] }, folder, call))
  t.notOk(existsSync(folder))
})

verifies(
  'help:source:site',
  'a name that resolves to a private address is refused unless its origin is configured',
  async (t) => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '::1',
      'fd00::1',
      'fe80::1',
      '::ffff:10.0.0.1',
      '0.0.0.0',
      '100.64.0.1',
    ])
      t.ok(isPrivateAddress(address), address)
    for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])
      t.notOk(isPrivateAddress(address), address)
    const site = await startSite(t, { '/llms.txt': 'Gauges.' })
    const origin = site.origin.replace('127.0.0.1', 'docs.example.org')
    const resolve: (typeof siteLimits)['resolve'] = (_name, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    await t.rejects(fetchInto(t, `${origin}/llms.txt`, { resolve }), {
      code: 'HELP_SOURCE_UNREACHABLE',
      message: /private address 127\.0\.0\.1; list http:\/\/docs\.example\.org:\d+ in CAUSEWAY_HELP_ORIGINS/,
    })
    t.same(site.requests, [])
  },
)
