import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun, installedProgram } from './program.ts'
import { type AnyClient, connectV1, connectV2, type Result } from './sdk-client.ts'

t.setTimeout(600_000)

const dir = realpathSync(t.testdir({ data: {}, project: { 'a.txt': 'content of a' }, home: {} }))
const data = `${dir}/data`
const project = `${dir}/project`

const servers = ['everything', 'filesystem', 'memory', 'sequential-thinking', 'context7'] as const
const programs = servers.map((name) => installedProgram(t, name))
const chromium = process.env.CAUSEWAY_CHROMIUM ?? '/usr/bin/chromium'
const playwright = existsSync(chromium) ? installedProgram(t, 'playwright') : undefined
const hasBrowser = playwright !== undefined
if (!existsSync(chromium)) t.pass('playwright', { skip: `there is no ${chromium}; apt-get install chromium` })

/** Returns the state of every hosted server by its app. */
async function readHealth(url: string): Promise<Record<string, Result>> {
  const { json } = await getJson(url, '/health')
  return json.apps
}

const readText = ({ content }: Result): string => content.map(({ text }: Result) => text).join('')

if (programs.every((program) => program !== undefined)) {
  const [everything, filesystem, memory, thinking, context7] = programs as string[]
  const browserFlags = ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium]
  const entry = (program: string | undefined, args: readonly string[] = [], more: object = {}) => ({
    command: process.execPath,
    args: [program, ...args],
    ...more,
  })
  mkdirSync(data, { recursive: true })
  writeFileSync(
    `${data}/mcp.json`,
    JSON.stringify({
      mcpServers: {
        everything: entry(everything, [], { causeway: { share: 'client' } }),
        shared: entry(everything, [], { causeway: { share: 'shared' } }),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of mcp.json
        files: entry(filesystem, ['${project}'], { causeway: { core: ['read_text_file'] } }),
        memory: entry(memory, [], {
          env: { MEMORY_FILE_PATH: `${dir}/memory.jsonl` },
          causeway: { share: 'shared' },
        }),
        'sequential-thinking': entry(thinking),
        context7: entry(context7),
        ...(hasBrowser ? { browser: entry(playwright, browserFlags) } : {}),
      },
      profiles: { notes: ['Memory', 'Files__read_*'] },
    }),
  )
  const running = await startServer(t, { dir: data, cwd: project })
  const { url } = running
  const connect = {
    v1: (t: Test, path = '/mcp') => connectV1(t, 'http', `${url}${path}`),
    auto: (t: Test, path = '/mcp') => connectV2(t, 'http', `${url}${path}`, 'auto'),
    bridge: (t: Test, path = '/mcp') => connectV2(t, 'bridge', `${url}${path}`, undefined, project),
  }
  const apps = [
    'Everything',
    'Shared',
    'Files',
    'Memory',
    'SequentialThinking',
    'Context7',
    ...(hasBrowser ? ['Browser'] : []),
  ]

  verifies('gateway:real', 'all tools are listed once the servers were started', async (t) => {
    const client = await connect.v1(t)
    const names = await until(
      () => client.names(),
      (names) => apps.every((app) => names.some((name) => name.startsWith(`${app}__`))),
    )
    t.ok(names.includes('Context7__resolve-library-id'))
    t.ok(names.includes('Everything__trigger-elicitation-request'), 'a server per client may ask')
    t.notOk(names.includes('Shared__trigger-elicitation-request'), 'a shared server may not')
    const own = await connect.v1(t, '/mcp/files')
    t.ok((await own.names()).includes('read_text_file'), 'own names')
    const core = await (await connect.v1(t, '/mcp/core')).names()
    t.ok(core.includes('Files__read_text_file') && core.length <= 20)
    const profile = await (await connect.v1(t, '/mcp/p/notes')).names()
    t.ok(profile.includes('Memory__read_graph') && profile.includes('Files__read_text_file'))
    t.notOk(profile.includes('Files__write_file') || profile.includes('Shared__echo'))
  })

  for (const [name, open] of Object.entries(connect))
    verifies('gateway:real', `calls, progress, resources and prompts (${name})`, async (t) => {
      const client: AnyClient = await open(t)
      t.match(readText(await client.call('Shared__echo', { message: 'ü' })), /ü/)
      t.equal(
        (await client.call('Shared__get-structured-content', { location: 'Chicago' })).isError,
        undefined,
      )
      const progress: number[] = []
      await client.call(
        'Shared__trigger-long-running-operation',
        { duration: 0.3, steps: 3 },
        { onprogress: (one) => void progress.push(one.progress) },
      )
      // The SDK drops progress that it reads together with the result.
      t.same(progress.slice(0, 2), [1, 2])
      const [resource] = (
        await client.call('Shared__get-resource-reference', { resourceType: 'Text', resourceId: 1 })
      ).content.filter(({ type }: Result) => type === 'resource')
      const { contents } = await client.read(resource.resource.uri)
      t.equal(contents[0].uri, resource.resource.uri)
      t.match(await client.prompt('Shared__args-prompt', { city: 'Bern' }), { messages: [{ role: 'user' }] })
      t.match(
        readText(
          await client.call('SequentialThinking__sequentialthinking', {
            ...{ thought: name, nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
          }),
        ),
        /"thoughtHistoryLength": 1/,
      )
    })

  if (hasBrowser)
    verifies('gateway:real', 'every client has a browser of its own', async (t) => {
      const pages = createServer(({ url = '' }, response) => {
        response.setHeader('content-type', 'text/html')
        response.end(`<title>page ${url}</title><h1>page ${url}</h1>`)
      }).listen(0, '127.0.0.1')
      await once(pages, 'listening')
      t.teardown(() => pages.close())
      const site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
      const clients = [await connect.bridge(t), await connect.v1(t)]
      const browse = (path: string) => async (client: AnyClient) =>
        readText(await client.call('Browser__browser_navigate', { url: `${site}${path}` }))
      const look = async (client: AnyClient | undefined) =>
        readText((await client?.call('Browser__browser_snapshot')) ?? { content: [] })
      const [first, second] = clients as [AnyClient, AnyClient]
      t.match(await browse('/first')(first), 'page /first')
      t.notMatch(await look(second), 'page /first', 'the page of another client')
      t.match(await browse('/second')(second), 'page /second')
      const snapshot = await look(first)
      t.match(snapshot, 'page /first')
      t.notMatch(snapshot, 'page /second')
      const { Browser } = await readHealth(url)
      t.equal(Browser?.pids.length, 2)
    })

  verifies('gateway:real', 'files of the project of the bridge', async (t) => {
    const client = await connect.bridge(t)
    t.match(
      readText(await client.call('Files__read_text_file', { path: `${project}/a.txt` })),
      'content of a',
    )
    const outside = await client.call('Files__read_text_file', { path: `${data}/mcp.json` })
    t.match(outside, { isError: true, content: [{ text: /outside allowed directories/ }] })
    const none = await connect.v1(t)
    t.match(await none.call('Files__read_text_file', { path: 'a.txt' }), {
      isError: true,
      _meta: { 'causeway/error': { code: 'PROJECT_UNKNOWN' } },
    })
  })

  verifies('gateway:real', 'clients that write at once do not lose entries of memory', async (t) => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect.v1(t)))
    await Promise.all(
      clients.map((client, number) =>
        client.call('Memory__create_entities', {
          entities: [{ name: `n${number}`, entityType: 'x', observations: [] }],
        }),
      ),
    )
    const { entities } = JSON.parse(readText(await (clients[0] as AnyClient).call('Memory__read_graph')))
    t.equal(entities.length, 5)
    const health = await readHealth(url)
    t.equal(health.Memory?.pids.length, 1, 'one process for all clients')
  })

  verifies('gateway:real', 'a question of a server reaches its client, in both eras', async (t) => {
    for (const mode of [undefined, 'auto', { pin: '2026-07-28' }] as const) {
      const client = new Client(
        { name: 'asked', version: '1' },
        {
          capabilities: { elicitation: { form: {} }, sampling: {} },
          ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
        },
      )
      client.setRequestHandler('elicitation/create', async () => ({
        action: 'accept',
        content: { name: 'Ada' },
      }))
      client.setRequestHandler('sampling/createMessage', async () => ({
        model: 'm',
        role: 'assistant',
        content: { type: 'text', text: 'sampled text' },
      }))
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/mcp/everything`), {
          // Identifies a client without a session.
          requestInit: {
            headers: { 'causeway-session': `asked-${JSON.stringify(mode)}`.replaceAll(/\W/g, '-') },
          },
        }),
      )
      t.teardown(() => client.close())
      const asked = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
      t.match(readText(asked), 'Ada')
      const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p' } })
      t.match(readText(sampled), 'sampled text')
    }
  })

  verifies('gateway:real', 'Claude Code connects to it through the bridge', async (t) => {
    const claude = clientRun(t, 'claude-code-2.1.330', `${dir}/home`)
    if (claude === undefined) return
    const added = await claude('mcp', 'add', '-s', 'local', 'causeway', '--', ...bridgeCommand(url))
    t.equal(added.code, 0, added.stderr)
    t.match((await claude('mcp', 'list')).stdout, /^causeway: .* - ✔ Connected$/m)
  })

  verifies('gateway:real', 'after a restart the same tools are listed without a process', async (t) => {
    const before = await (await connect.v1(t)).names()
    await running.server.stop()
    t.equal(readFileSync(`${data}/gateway/pids.json`, 'utf8'), '[]', 'all processes were ended')
    const next = await startServer(t, running.server.start)
    t.same(await (await connectV1(t, 'http', `${next.url}/mcp`)).names(), before)
    const health = await readHealth(next.url)
    for (const app of apps) t.match(health[app], { state: 'idle', pids: [] }, app)
  })
}
