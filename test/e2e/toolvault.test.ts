import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import toolvault from '@causeway/app-toolvault'
import { asCausewayError, errorMetaKey, toErrorObject } from '@causeway/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { Channel } from '../requirement.ts'
import { inCI } from '../tier.ts'
import { verifies } from '../verifies.ts'
import { openBridge } from './bridge-process.ts'
import { getJson, postJson, postMcp } from './http.ts'
import { startServer } from './server-process.ts'

t.setTimeout(300_000)

const fixtures = join(import.meta.dirname, '../../fixtures/tracks')
const dir = t.testdir({ data: {}, root: {} })
const root = join(dir, 'root')
copyFileSync(join(fixtures, 'boats.rep'), join(root, 'boats.rep'))
const { url, server } = await startServer(t, {
  dir: join(dir, 'data'),
  cwd: root,
  env: { CAUSEWAY_LISTEN: 'toolvault:0', CAUSEWAY_APPS: 'toolvault' },
})
const alias: string = (await server.saw('an app has a port of its own')).url

const [xa, xb] = JSON.parse(readFileSync(join(fixtures, 'oracle_pair.plot.json'), 'utf8')).features

/** Calls a tool and returns its data or its error object. */
// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
type CallTool = (tool: string, args: object) => Promise<{ data?: any; error?: any }>

const direct: CallTool = async (tool, args) => {
  const app = await openForTest(toolvault, { dir, roots: makeRoots(() => [root], 'CAUSEWAY_PLOT_ROOTS') })
  try {
    return { data: await app.client().call(tool, args) }
  } catch (error) {
    return { error: toErrorObject(asCausewayError(error)) }
  } finally {
    await app.close()
  }
}

const http: CallTool = async (tool, args) => {
  const { json } = await postMcp(url, 'tools/call', { name: `ToolVault__${tool}`, arguments: args })
  return parseResult(json)
}

const client = await openBridge(t, { url: `${url}/mcp` })
let calls = 0
const bridge: CallTool = async (tool, args) =>
  parseResult(await client.call(++calls, 'tools/call', { name: `ToolVault__${tool}`, arguments: args }))

const channels: Readonly<Record<Channel, CallTool>> = { direct, http, bridge }

// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
function parseResult({ result }: any) {
  return result.isError === true
    ? { error: result._meta[errorMetaKey] }
    : { data: result.structuredContent, text: result.content[0].text }
}

verifies('toolvault:command', async (t, channel) => {
  const callTool = channels[channel]
  const calls = {
    word_count: { text: 'two words' },
    delete_features: { ids: ['a'] },
    cpa_tcpa: { tracks: [xa, xb] },
    simplify_track: { tracks: [xa], tolerance_m: 50 },
    import_rep: { path: 'boats.rep' },
  }
  for (const [tool, args] of Object.entries(calls)) {
    const { data } = await callTool(tool, args)
    t.same(Object.keys(data).sort(), ['command', 'payload'], tool)
  }
  const { data } = await callTool('cpa_tcpa', calls.cpa_tcpa)
  t.ok(Math.abs(data.payload.approaches[0].cpa_m - 209.5) < 0.1)
})

verifies(
  'toolvault:failure',
  inCI(async (t, channel) => {
    const callTool = channels[channel]
    t.match((await callTool('delete_features', {})).error, { code: 'FEATURES_NEEDED', remedy: /run_tool/ })
    t.match((await callTool('track_speed_filter', { track_feature: { ...xa, properties: {} } })).error, {
      code: 'NO_TIME_DATA',
      retryable: false,
    })
    t.match((await callTool('word_count', { texts: 'x' })).error, {
      code: 'INVALID_ARGUMENTS',
      message: /did you mean text/,
    })
    t.match((await callTool('import_rep', { path: '/etc/passwd' })).error, { code: 'OUTSIDE_ROOTS' })
  }),
)

verifies(
  'toolvault:index',
  inCI(async (t) => {
    const { json } = await getJson(url, '/api/apps/toolvault/index.json')
    t.match(json, { version: '1.0.0', packageInfo: { version: /^\d/ } })
    const names = json.root.map(({ name }: { name: string }) => name)
    t.same(names, [...names].sort(), 'categories are sorted')
    const leaves = json.root.flatMap(({ type, children }: { type: string; children: object[] }) => {
      t.equal(type, 'category')
      t.ok(children.length > 0, 'empty categories are omitted')
      return children
    })
    t.ok(leaves.length >= 9)
    const ajv = new Ajv2020({ strict: false })
    for (const { type, name, description, inputSchema, outputSchema } of leaves) {
      t.equal(type, 'tool')
      t.ok(description.length > 10, name)
      t.type(ajv.compile(inputSchema), 'function', 'the schema has no external references')
      t.notMatch(JSON.stringify(inputSchema), /\$ref/)
      ajv.compile(outputSchema)
    }
    const { json: read } = await postMcp(url, 'resources/read', { uri: 'toolvault://index' })
    t.same(JSON.parse(read.result.contents[0].text), json, 'the resource has the same content')
  }),
)

verifies(
  'toolvault:index:inject',
  inCI(async (t) => {
    const { data } = await http('list_tools', {})
    const inject = Object.fromEntries(
      data.tools.map((tool: { name: string; inject: object }) => [tool.name, tool.inject]),
    )
    t.match(inject, {
      delete_features: { features: { from: 'selection', kinds: ['any'], min: 1, max: null } },
      toggle_first_feature_color: { feature_collection: { from: 'collection' } },
      select_all_visible: {
        feature_collection: { from: 'collection' },
        viewport_state: { from: 'viewport' },
      },
      select_feature_start_time: { features: { from: 'selection' }, current_time_state: { from: 'time' } },
      track_speed_filter: { track_feature: { from: 'track' } },
      cpa_tcpa: { tracks: { from: 'selection', kinds: ['track'], min: 2 } },
      word_count: {},
    })
  }),
)

verifies(
  'toolvault:rest',
  inCI(async (t) => {
    const { json } = await getJson(alias, '/tools/list')
    t.ok(json.root.length > 3)
    t.ok(json.tools.some(({ name }: { name: string }) => name === 'word_count'))
    const wanted = { result: { command: 'showText', payload: 'Word count: 2' }, isError: false }
    const pairs = { name: 'word_count', arguments: [{ name: 'text', value: 'two words' }] }
    t.same((await postJson(alias, '/tools/call', pairs)).json, wanted)
    const object = { name: 'word_count', arguments: { text: 'two words' } }
    t.same((await postJson(alias, '/tools/call', object)).json, wanted)
    const { json: detail } = await getJson(alias, '/api/tools/word_count')
    t.match(detail, { tool_name: 'word_count', stats: { sample_inputs_count: 3 } })
    for (const { path } of detail.files.inputs) {
      const { json: sample } = await getJson(alias, path)
      const response = await postJson(alias, '/tools/call', { name: 'word_count', arguments: sample.input })
      t.same(response.json.result, sample.expectedOutput)
    }
    t.equal((await getJson(alias, '/api/samples/word_count.json')).json.length, 3)
  }),
)

verifies(
  'toolvault:rest:errors',
  inCI(async (t) => {
    const unknown = await postJson(alias, '/tools/call', { name: 'sink_ship', arguments: {} })
    t.match(unknown, { status: 404, json: { isError: true, error: /sink_ship/, data: { tools: Array } } })
    const bad = await postJson(alias, '/tools/call', {
      name: 'word_count',
      arguments: [{ name: 'texts', value: 1 }],
    })
    t.match(bad, { status: 400, json: { isError: true, code: 'INVALID_ARGUMENTS', details: String } })
    const none = await postJson(alias, '/tools/call', [])
    t.match(none, { status: 400, json: { isError: true } })
    for (const { json } of [unknown, bad, none]) t.notMatch(JSON.stringify(json), /at .*\.ts|node_modules/)
    const outside = await getJson(alias, '/api/tools/word_count/samples/..%2f..%2fpackage.json')
    t.equal(outside.status, 404)
  }),
)
