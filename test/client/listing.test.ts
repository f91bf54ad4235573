import { meta, modernVersion, type Tool } from '@causeway/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { getJson, postMcp } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(300_000)

const { url } = await startServer(t, { dir: t.testdir() })
const { json: hosted } = await getJson(url, '/api/apps')
const bareMounts: readonly string[] = hosted.apps.map(
  ({ name }: { name: string }) => `/mcp/${name.toLowerCase()}`,
)
const mounts = ['/mcp', ...bareMounts]

const toolBytes = 2000
const appBytes = 25_000
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

async function legacyList(path: string): Promise<readonly Tool[]> {
  const { json } = await postMcp(url, 'tools/list', {}, { path })
  return json.result.tools
}

async function modernList(path: string): Promise<readonly Tool[]> {
  const claim = { [meta.protocolVersion]: modernVersion, [meta.clientCapabilities]: {} }
  const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': 'tools/list' }
  const { json } = await postMcp(url, 'tools/list', { _meta: claim }, { path, headers })
  return json.result.tools
}

verifies('wire:list:deterministic', async (t) => {
  t.ok(mounts.includes('/mcp/replay') && mounts.includes('/mcp/causeway'))
  for (const path of mounts) {
    const [legacy, again, modern] = [await legacyList(path), await legacyList(path), await modernList(path)]
    t.ok(legacy.length > 0, path)
    t.equal(JSON.stringify(again), JSON.stringify(legacy), `${path}: the same bytes every time`)
    t.equal(JSON.stringify(modern), JSON.stringify(legacy), `${path}: the same bytes in both eras`)
    for (const { name, inputSchema, outputSchema } of legacy)
      for (const schema of [inputSchema, outputSchema]) {
        const ajv = new Ajv2020({ strict: true, allErrors: true, formats: {} })
        t.doesNotThrow(() => ajv.compile(schema as object), `${path} ${name}`)
        t.notMatch(JSON.stringify(schema), /"\$schema"|"\$ref":"[^#]|9007199254740991/, `${path} ${name}`)
      }
  }
})

verifies('wire:name:limits', async (t) => {
  for (const { name } of await legacyList('/mcp'))
    t.match(name, /^(?=.{1,49}$)[A-Z][A-Za-z0-9]*__[A-Za-z0-9_-]+$/)
})

verifies('wire:name:full', async (t) => {
  const names = (await legacyList('/mcp')).map(({ name }) => name)
  t.ok(names.includes('Replay__list_recordings'))
  const call = (name: string) => postMcp(url, 'tools/call', { name, arguments: {} })
  t.type((await call('Replay__list_recordings')).json.result.structuredContent.count, 'number')
  t.equal((await call('list_recordings')).json.error.code, -32602)
})

verifies('wire:name:bare', async (t) => {
  const full = (await legacyList('/mcp')).map(({ name }) => name)
  const bare = await Promise.all(bareMounts.map(legacyList))
  t.equal(bare.flat().length, full.length)
  const names = (await legacyList('/mcp/replay')).map(({ name }) => name)
  t.same(
    names,
    full.filter((name) => name.startsWith('Replay__')).map((name) => name.slice('Replay__'.length)),
  )
  const call = (name: string) => postMcp(url, 'tools/call', { name, arguments: {} }, { path: '/mcp/replay' })
  t.type((await call('list_recordings')).json.result.structuredContent.count, 'number')
  t.equal((await postMcp(url, 'tools/list', {}, { path: '/mcp/absent' })).status, 404)
})

verifies('app:size:listing', 'as served', async (t) => {
  const tools = await legacyList('/mcp')
  for (const tool of tools) t.ok(bytes(tool) <= toolBytes, `${tool.name}: ${bytes(tool)} bytes`)
  for (const path of bareMounts) {
    const size = bytes(await legacyList(path))
    t.comment(`${path}: ${size} bytes`)
    t.ok(size <= appBytes, `${path}: ${size} bytes`)
  }
})
