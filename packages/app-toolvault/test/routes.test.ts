import type { ChannelContext } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import toolvault from '../src/index.ts'
import { openVault } from './vault-kit.ts'

/** The context of a route whose calls of tools go to the app itself, or fail as given. */
async function context(t: Test, failure?: unknown) {
  const { app, client } = await openVault(t)
  const logged: unknown[] = []
  const call: ChannelContext['call'] = (tool, args) =>
    failure === undefined ? client.call(tool, args) : Promise.reject(failure)
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) }
  return { ctx: { store: app.store, log, call } as unknown as ChannelContext, logged, client }
}

const route = (method: string, path: string) => {
  const found = toolvault.routes.find((one) => one.method === method && one.path === path)
  if (found === undefined) throw new Error(`no route ${path}`)
  return found
}

const post = (body: string) => new Request('http://localhost/tools/call', { method: 'POST', body })

verifies('toolvault:rest', 'a call takes pairs and objects, and anything else is refused', async (t) => {
  const { ctx } = await context(t)
  const { handle } = route('POST', '/tools/call')
  const wanted = { result: { command: 'showText', payload: 'Word count: 1' }, isError: false }
  for (const args of [{ text: 'x' }, [{ name: 'text', value: 'x' }]]) {
    const answer = await handle(post(JSON.stringify({ name: 'word_count', arguments: args })), {}, ctx)
    t.same(await answer.json(), wanted)
  }
  for (const [body, status] of [
    ['not json', 400],
    ['{}', 400],
    ['{"name": "sink_ship"}', 404],
    ['{"name": "word_count"}', 400],
  ] as const) {
    const answer = await handle(post(body), {}, ctx)
    t.equal(answer.status, status, body)
    t.match(await answer.json(), { isError: true, error: String, details: String })
  }
})

verifies('toolvault:rest:errors', 'a defect is logged with its stack and told without', async (t) => {
  const { ctx, logged } = await context(t, new TypeError('secret at /home/user'))
  const answer = await route('POST', '/tools/call').handle(post('{"name": "word_count"}'), {}, ctx)
  t.equal(answer.status, 500)
  const text = await answer.text()
  t.match(JSON.parse(text), { isError: true, code: 'INTERNAL' })
  t.notMatch(text, /secret|home/)
  t.equal(logged.length, 1)
  const busy = await context(t, new CausewayError('CANCELLED', 'the call was cancelled'))
  await route('POST', '/tools/call').handle(post('{"name": "word_count"}'), {}, busy.ctx)
  t.same(busy.logged, [], 'what a client did is no defect')
})

verifies('toolvault:index', 'routes and resources tell of each tool', async (t) => {
  const { ctx, client } = await context(t)
  const get = async (path: string, variables = {}) =>
    (await route('GET', path).handle(new Request('http://localhost/'), variables, ctx)).json()
  const index = (await get('/index.json')) as { root: { children: { name: string }[] }[] }
  const names = index.root.flatMap(({ children }) => children.map(({ name }) => name))
  const { tools } = (await client.call('list_tools')) as { tools: { name: string }[] }
  t.same(names.sort(), tools.map(({ name }) => name).sort())
  t.match(await get('/tools/list'), { tools: { length: names.length } })
  t.match(await get('/api/tools/{tool}', { tool: 'cpa_tcpa' }), { tool_name: 'cpa_tcpa', reads_file: false })
  t.match(await get('/api/tools/{tool}/samples/{file}', { tool: 'word_count', file: 'empty.json' }), {
    input: { text: '' },
  })
  await t.rejects(get('/api/tools/{tool}/samples/{file}', { tool: 'word_count', file: '../x' }), {
    code: 'ROUTE_NOT_FOUND',
    data: { samples: ['two-words.json', 'empty.json', 'spaced.json'] },
  })
  const contents = await client.read('toolvault://tools/import_rep')
  t.match('text' in contents ? JSON.parse(contents.text) : {}, { reads_file: true, samples: Array })
  await t.rejects(client.read('toolvault://tools/sink_ship'), { code: 'RESOURCE_NOT_FOUND' })
  t.match(await client.call('list_tools', { category: 'text' }), { tools: [{ name: 'word_count' }] })
  await t.rejects(client.call('list_tools', { category: 'sinking' }), { code: 'INVALID_ARGUMENTS' })
})

t.test('resources: tools complete by name', async (t) => {
  const { ctx } = await context(t)
  const family = toolvault.resources.find(({ template }) => template.variables.length > 0)
  t.ok((await family?.complete('tool', {}, ctx))?.includes('range_bearing'))
})
