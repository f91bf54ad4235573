/**
 * Secrets of every kind, planted in a whole product: tokens, keys of models and of vectors, fields for providers, the
 * environment. Its endpoint repeats in its errors what it was sent. They must show nowhere.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fields, type Product, planted, secrets, startProduct } from '../fuzz/product.ts'
import { verifies } from '../verifies.ts'
import { openBridge } from './bridge-process.ts'

t.setTimeout(300_000)

const observation = (mind: string, step: number) => ({
  entity_id: mind,
  current_simulation_time: 100 + step,
  status: { position: [step, 0], current_interaction: {} },
  needs: { needs: { hunger: 20 }, max_value: 100 },
})

/** Calls that take keys and fields outside, and one that shows the environment of a command. */
const calls: readonly (readonly [app: string, tool: string, args: object])[] = [
  ['minds', 'create_mind', { mind_id: 'm', config: { entity_id: 'm', traits: ['calm'], selector: 'llm' } }],
  ...[1, 2, 3, 4].map(
    (step) => ['minds', 'decide_action', { mind_id: 'm', observation: observation('m', step) }] as const,
  ),
  ['minds', 'recall_memories', { mind_id: 'm', query: 'hunger' }],
  ['minds', 'explain_decision', { mind_id: 'm' }],
  ['minds', 'consolidate_memories', { mind_id: 'm' }],
  ...[1, 2, 3].map(() => ['help', 'find_help_topics', { text: 'start the server' }] as const),
  ['trm', 'start', { repo: 'sums', test: 'env', wait: 20 }],
  ['trm', 'state', { wait: 5 }],
  ['trm', 'list', {}],
  ['causeway', 'query_audit', {}],
  ['causeway', 'make_backup', { name: 'planted' }],
  ['causeway', 'get_health', {}],
]

async function ask({ url }: Product, path: string, body?: object): Promise<string> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...fields, 'content-type': 'application/json', 'causeway-session': planted('session') },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return answer.text()
}

const pages = [
  '/health',
  '/health/minds',
  '/health/help',
  '/metrics',
  '/openapi.json',
  '/api/apps',
  '/api/apps/causeway/audit',
  '/api/apps/causeway/audit.jsonl',
]

function clean(t: Test, place: string, text: string): void {
  const shown = secrets.filter((secret) => text.includes(secret))
  t.same(shown, [], place)
}

/** Every file below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

verifies('proof:secrets', async (t) => {
  const product = await startProduct(t, { apps: [] })
  for (const [app, tool, args] of calls)
    clean(t, `the answer of ${tool}`, await ask(product, `/api/apps/${app}/tools/${tool}`, args))
  for (const page of pages) clean(t, page, await ask(product, page))
  for (const uri of ['mind://m/state', 'mind://m/memories?limit=50', 'minds://list', 'help://llms.txt'])
    clean(
      t,
      uri,
      await ask(product, '/mcp', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }),
    )

  const record = join(product.base, 'bridge.jsonl')
  const bridge = await openBridge(t, {
    url: `${product.url}/mcp`,
    args: [
      ...[
        '--token-file',
        join(product.base, 'bare-token'),
        '--header',
        `X-Api-Key: ${planted('api-header')}`,
      ],
      ...['--stats', '--record', record],
    ],
    env: { DEBUG: 'true', TMPDIR: product.base },
  })
  await bridge.call(1, 'tools/call', { name: 'Causeway__get_health', arguments: {} })
  await bridge.call(2, 'tools/call', {
    name: 'Minds__decide_action',
    arguments: { mind_id: 'm', observation: observation('m', 9) },
  })
  bridge.end()
  await bridge.exited
  clean(t, 'the answers through the bridge', bridge.lines.join())
  t.match(bridge.stderr, /./, 'figures were printed')
  clean(t, 'the figures of the bridge', bridge.stderr)
  clean(t, 'the recording of the bridge', readFileSync(record, 'utf8'))

  t.same(await product.server.stop(), { code: 0, signal: null })
  clean(t, 'stdout', product.server.stdout)
  clean(t, 'stderr', product.server.stderr)
  // Stopped: no connection of that process has a database open.
  const kept = filesIn(product.dataDir)
  for (const kind of [/logs/, /backups.*\.json$/, /\.db$/])
    t.ok(
      kept.some((file) => kind.test(file)),
      `there is ${kind}`,
    )
  // State is found by the key of its session, in files that are the user's alone.
  for (const file of kept)
    clean(
      t,
      file.slice(product.base.length),
      readFileSync(file, 'latin1').replaceAll(file.endsWith('.db') ? planted('session') : '\u0000\u0000', ''),
    )
  for (const file of readdirSync(product.base).filter((name) => name.endsWith('.log')))
    clean(t, file, readFileSync(join(product.base, file), 'utf8'))
})
