import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mock } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openForTest } from '@causeway/app-kit/testing'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import help from '../src/index.ts'
import { listArchive } from '../src/sources/archive.ts'
import { convertHtml } from '../src/sources/html.ts'
import { fetchPackage } from '../src/sources/npm-package.ts'
import type { Help } from '../src/store.ts'
import { type AppOptions, type Files, library, listPaths, type OpenedApp, openApp } from './help-kit.ts'

const page = `<!DOCTYPE html><html><head><title>Widget &amp; gauge</title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav><main>
<h2 id="zoom">Zooming<a href="#zoom">¶</a></h2>
<p>A pinch &lt;magnifies&gt; the
  <code>gauge</code>&#46;</p>
<ul><li>first</li><li>second</li></ul>
<pre><code>const a = 1 &lt; 2
  call("a > b")</code></pre>
<table><tr><th>name</th><td>unit</td></tr></table><img alt="A dial" src="a.png">
<script>if (a < b) document.write('<p>hidden</p>')</script>
</main><footer>Imprint</footer></body></html>`

verifies('help:source:html', 'convertHtml converts the content of a page', async (t) => {
  t.equal(
    convertHtml(page),
    [
      '# Widget & gauge',
      '## Zooming {#zoom}',
      'A pinch <magnifies> the `gauge`.',
      '- first\n- second',
      '```\nconst a = 1 < 2\n  call("a > b")\n```',
      '| name | unit |',
      'A dial\n',
    ].join('\n\n'),
  )
  t.equal(convertHtml('plain < text'), 'plain < text\n')
  t.equal(convertHtml('<p>one<!-- no > end'), 'one\n')
  t.equal(convertHtml('<h1 title="a > b">Deep</h1><p>&#x110000;&unknown;'), '# Deep\n\n\ufffd&unknown;\n')
})

verifies('help:source:html', 'convertHtml takes less than 10 s for hostile pages', async (t) => {
  const before = process.cpuUsage()
  for (const part of ['<', '<a "', '<a href="', '<!--', '<script>', '<nav>', '&#', '<h1>', '<pre>', '</'])
    convertHtml(part.repeat(200_000 / part.length))
  t.ok(process.cpuUsage(before).user < 10e6, 'less than 10 s of processor time')
})

verifies('help:source:html', 'the HTML files of a folder without Markdown can be searched', async (t) => {
  const site = library(t, {
    'docs/guide/zoom.html': page,
    'docs/old.htm': '<h1>Legacy</h1><p>Retired dials.',
  })
  t.match(await site.build(), { added: 2, failed: [] })
  const { results } = await site.ask('magnifies the gauge')
  t.match(results, [{ file_path: 'guide/zoom.html', title: 'Widget & gauge' }])
  site.write({ 'docs/readme.md': '# Readme\n\nThe source of the site.' })
  t.match(await site.build(), { added: 1, removed: 2 }, 'ignores HTML files in a folder with Markdown')
  t.same(listPaths(await site.ask('readme')), ['docs/readme.md'])
})

interface Entry {
  readonly path: string
  readonly text: string
  readonly type?: string
}

function makeArchive(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, text, type = '0' }) => {
    const content = Buffer.from(text)
    const header = Buffer.alloc(512)
    header.write(path.slice(0, 100), 0)
    header.write(content.length.toString(8).padStart(11, '0'), 124)
    header.write(type, 156)
    header.write('ustar', 257)
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

interface Published {
  readonly archive: Buffer
  readonly integrity?: string
}

/** Starts a registry with packages by `name/version`. Counts its requests. */
async function startRegistry(t: Test, packages: Readonly<Record<string, Published>>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '')
    requests.push(url)
    const key = url.replace(/^\/(?:files\/)?/, '')
    const found = packages[key]
    if (found === undefined) response.writeHead(404).end('{}')
    else if (url.startsWith('/files/')) response.end(found.archive)
    else {
      const hash = createHash('sha512').update(found.archive).digest('base64')
      const dist = { tarball: `/files/${key}`, integrity: found.integrity ?? `sha512-${hash}` }
      response.end(JSON.stringify({ dist }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

const pages: readonly Entry[] = [
  { path: 'package/package.json', text: '{}' },
  { path: 'package/README.md', text: '# Widget\n\nDraws gauges and dials.' },
  { path: 'package/docs/zoom.md', text: '# Zooming\n\nA pinch magnifies the gauge.' },
  { path: 'package/src/notes.md', text: '# Notes\n\nnot documentation' },
  { path: 'package/docs/../../../outside.md', text: '# Outside' },
]

verifies('help:source:npm', 'the pages of a package version are fetched once', async (t) => {
  const archive = gzipSync(makeArchive(pages))
  const { registry, requests } = await startRegistry(t, {
    'widget/1.2.3': { archive },
    '@scope/widget/2.0.0-beta.1': { archive },
  })
  const helpSources = ['npm:widget@1.2.3', 'npm:@scope/widget@2.0.0-beta.1']
  const settings = { helpSources, helpRegistry: registry }
  const { app, store, folder } = await openApp(t, { settings })
  t.match(await store.build(), { added: 4, failed: [] })
  const { results } = await app
    .client()
    .call('find_help_topics', { text: 'zooming', source: 'npm:widget@1.2.3' })
  t.match(results, [{ title: 'Zooming', file_path: 'docs/zoom.md' }])
  t.equal(requests.length, 4, 'requests a description and an archive for each package')
  t.match(await store.build(), { added: 0, unchanged: 4 })
  t.equal(requests.length, 4, 'the second build fetches nothing')
  t.notOk(existsSync(join(folder, 'data/outside.md')))
  t.same(readdirSync(join(folder, 'data/help-packages')), ['@scope+widget@2.0.0-beta.1', 'widget@1.2.3'])
})

verifies(
  'help:source:npm',
  'packages that cannot be fetched are reported, and the others are indexed',
  async (t) => {
    const archive = gzipSync(makeArchive(pages))
    const { registry } = await startRegistry(t, {
      'good/1.0.0': { archive },
      'changed/1.0.0': { archive, integrity: 'sha512-AAAA' },
      'damaged/1.0.0': { archive: Buffer.from('not an archive') },
    })
    const helpSources = ['good', 'changed', 'damaged', 'absent'].map((name) => `npm:${name}@1.0.0`)
    const settings = {
      helpSources: [...helpSources, 'npm:no-version', 'npm:../x@1.0.0'],
      helpRegistry: registry,
    }
    const { store, folder } = await openApp(t, { settings })
    const { added, failed } = await store.build()
    t.equal(added, 2)
    const reasons = Object.fromEntries(failed.map(({ file, reason }) => [file, reason]))
    t.match(reasons['npm:changed@1.0.0'], /integrity/)
    t.match(reasons['npm:damaged@1.0.0'], /damaged or too large/)
    t.match(reasons['npm:absent@1.0.0'], /status 404/)
    t.match(reasons['npm:no-version'], /npm:name@1\.2\.3/)
    t.match(reasons['npm:../x@1.0.0'], /npm:name@1\.2\.3/)
    t.same(readdirSync(join(folder, 'data/help-packages')), ['good@1.0.0'], 'leaves no incomplete folder')
  },
)

verifies('help:source:npm', 'a registry that does not respond is reported', async (t) => {
  const settings = { helpSources: ['npm:widget@1.2.3'], helpRegistry: 'http://127.0.0.1:1/' }
  const { store } = await openApp(t, { settings })
  t.match((await store.build()).failed, [{ file: 'npm:widget@1.2.3', reason: /cannot be fetched/ }])
})

verifies('help:source:npm', 'a download may take long, but fails if it pauses for a minute', async (t) => {
  const archive = gzipSync(makeArchive(pages))
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  mock.timers.enable({ apis: ['setTimeout'] })
  const { fetch } = globalThis
  t.teardown(() => {
    mock.timers.reset()
    globalThis.fetch = fetch
  })
  const download = (pauseMs: number): Promise<void> => {
    globalThis.fetch = async (url, { signal } = {}) => {
      if (!String(url).endsWith('/archive'))
        return Response.json({ dist: { tarball: '/archive', integrity } })
      const parts = [archive.subarray(0, 20), archive.subarray(20, 40), archive.subarray(40)]
      const pull = (controller: ReadableStreamDefaultController): void => {
        mock.timers.tick(pauseMs)
        const part = parts.shift()
        if (signal?.aborted) controller.error(signal.reason)
        else if (part === undefined) controller.close()
        else controller.enqueue(part)
      }
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
    }
    const source = { name: 'widget', version: '1.0.0', registry: 'http://127.0.0.1:1/' }
    return fetchPackage(source, join(t.testdirName, `${pauseMs}`), new AbortController().signal)
  }
  t.testdir({})
  await download(59_999)
  t.ok(existsSync(join(t.testdirName, '59999/README.md')))
  await t.rejects(download(60_000), { code: 'HELP_SOURCE_UNREACHABLE', message: /no data within 60000 ms/ })
})

verifies('help:source:npm', 'listArchive reads long names and stops at damaged entries', async (t) => {
  const long = `package/docs/${'deep/'.repeat(30)}page.md`
  const record = ` path=${long}\n`
  const length = String(record.length + 3)
  const archive = makeArchive([
    { path: 'PaxHeader', text: `${length}${record}`, type: 'x' },
    { path: 'cut', text: 'one' },
    { path: 'LongLink', text: `${long}\0`, type: 'L' },
    { path: 'cut', text: 'two' },
    { path: 'package/link.md', text: '', type: '2' },
    { path: 'package/a.md', text: 'three' },
  ])
  const read = (bytes: Uint8Array) =>
    [...listArchive(bytes)].map(({ path, bytes: content }) => [path, Buffer.from(content).toString()])
  const path = long.slice('package/'.length)
  t.same(read(archive), [
    [path, 'one'],
    [path, 'two'],
    ['a.md', 'three'],
  ])
  t.same(read(archive.subarray(0, 1500)), [], 'reads a truncated archive up to its damaged entry')
  t.same(read(Buffer.alloc(700, 'x')), [], 'lists nothing for a file that is not an archive')
})

const files: Files = {
  'docs/guide/hooks.md': `# Hooks\n\nA hook runs before the handler. ${'lifecycle '.repeat(30)}`,
  'docs/guide/errors.md': '# Errors\n\nAn exception becomes a response.',
  'docs/README.md': '# Readme\n\nThe overview.',
  'docs_dev/plan.md': '# Planning\n\nThe next steps.',
}

const opened = (t: Test, options: AppOptions = {}): Promise<OpenedApp> =>
  openApp(t, { pages: files, ...options })

verifies('help:source:bad', async (t) => {
  const { app, store, folder, log } = await opened(t)
  const entries = [`docs=${join(folder, 'docs')}`, 'nonsense', 'later=later', 'pkg:not-installed-anywhere']
  const settings = { helpSources: entries }
  const other = await openForTest(help, { dir: join(folder, 'other'), settings, now: Date.now })
  t.teardown(() => other.close())
  const report = await (other.store as Help).build()
  t.match(report, { added: 3, failed: [{ file: 'nonsense' }, { file: 'later=later' }, { file: /^pkg:/ }] })
  t.match((await other.client().call('find_help_topics', { text: 'hook' })).results, [{ title: 'Hooks' }])

  await store.build()
  renameSync(join(folder, 'docs'), join(folder, 'moved'))
  t.match(await store.build(), { removed: 0 }, 'retains its pages')
  t.match((await app.client().call('find_help_topics', { text: 'hook' })).results, [{ title: 'Hooks' }])
  t.match(log.join('\n'), /"file":"docs=/)
})

verifies('help:source:bad', 'if no source can be used, the reason is reported', async (t) => {
  const app = await openForTest(help, { dir: t.testdir(), settings: { helpSources: ['nonsense'] } })
  t.teardown(() => app.close())
  const message = /^no configured documentation source can be used: .*nonsense/
  await t.rejects((app.store as Help).build(), { code: 'HELP_SOURCE_INVALID', message })
})

verifies('help:sections:pages', async (t) => {
  const names = Array.from({ length: 25 }, (_, i) => `docs/${'abc'[i % 3]}/page-${i}.md`)
  const { app } = await opened(t, { pages: Object.fromEntries(names.map((name) => [name, `# ${name}`])) })
  const client = app.client()
  interface Listing {
    readonly sections: readonly { section: string; count: number; documents: { file_path: string }[] }[]
    readonly next_cursor: string | null
  }
  const list = (args: object) => client.call('list_help_sections', args) as unknown as Promise<Listing>
  const found: string[] = []
  let cursor: string | null = null
  let calls = 0
  do {
    const { sections, next_cursor }: Listing = await list({ limit: 10, ...(cursor !== null && { cursor }) })
    for (const { section, count, documents } of sections) {
      t.equal(count, section === 'A' ? 9 : 8, 'counts all documents of the section')
      found.push(...documents.map(({ file_path }) => file_path))
    }
    cursor = next_cursor
    calls++
  } while (cursor !== null)
  t.equal(calls, 3)
  t.same(found.toSorted(), names.map((name) => name.slice(5)).toSorted(), 'returns each document once')
  await t.rejects(list({ cursor: '4711' }), { code: 'INVALID_ARGUMENTS' })
})
