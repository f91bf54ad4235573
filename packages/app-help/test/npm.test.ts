import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { listArchive } from '../src/sources/archive.ts'
import { openApp } from './help-kit.ts'

interface Entry {
  readonly path: string
  readonly text: string
  readonly type?: string
}

/** Makes a tar archive. */
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

verifies('help:source:npm', 'fetches the pages of a version once', async (t) => {
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
  t.equal(requests.length, 4, 'a description and an archive per package')
  t.match(await store.build(), { added: 0, unchanged: 4 })
  t.equal(requests.length, 4, 'the second build fetches nothing')
  t.notOk(existsSync(join(folder, 'data/outside.md')))
  t.same(readdirSync(join(folder, 'data/help-packages')), ['@scope+widget@2.0.0-beta.1', 'widget@1.2.3'])
})

verifies('help:source:npm', 'reports packages that cannot be fetched, and indexes the others', async (t) => {
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
  t.same(readdirSync(join(folder, 'data/help-packages')), ['good@1.0.0'], 'nothing unfinished remains')
})

verifies('help:source:npm', 'a registry that does not respond is reported', async (t) => {
  const settings = { helpSources: ['npm:widget@1.2.3'], helpRegistry: 'http://127.0.0.1:1/' }
  const { store } = await openApp(t, { settings })
  t.match((await store.build()).failed, [{ file: 'npm:widget@1.2.3', reason: /cannot be fetched/ }])
})

verifies('help:source:npm', 'reads long names and stops at damage', async (t) => {
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
  t.same(read(archive.subarray(0, 1500)), [], 'a cut archive')
  t.same(read(Buffer.alloc(700, 'x')), [], 'no archive')
})
