import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { clientProgram, gatewayProgram } from '../../test/downloads/clients.mjs'
import { startProgram } from '../program.ts'

/** A session of a client that uses all servers. */
export interface Session {
  /** Counts the tools of the servers. */
  countTools(): Promise<number>
  echo(message: string): Promise<string>
  close(): Promise<void>
}

/** A way to connect sessions with servers, while it runs. */
export interface Running {
  /** The processes of the way itself; their children belong to it too. Without a gateway, the children of this process. */
  readonly pids: readonly number[]
  open(): Promise<Session>
  stop(): Promise<void>
}

export interface Setup {
  readonly name: string
  start(): Promise<Running>
}

const bridgeProgram = fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))

interface ServerProgram {
  readonly name: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

interface SetupOptions {
  readonly folder: string
  /** Arguments of Node that start Causeway. */
  readonly causeway: readonly string[]
  readonly settings: NodeJS.ProcessEnv
}

/** Returns the ways that can be measured, or the reason why none can. */
export function createSetups(options: SetupOptions): readonly Setup[] | string {
  const servers = findServers(options.folder)
  const [hub, proxy] = [gatewayProgram('mcp-hub', process.env), gatewayProgram('mcp-proxy', process.env)]
  if (typeof servers === 'string') return servers
  if (hub === undefined || proxy === undefined)
    return 'install the other gateways first: node test/downloads/clients.mjs install gateways'
  return [
    { name: 'no gateway', start: async () => startNothing(servers) },
    { name: 'Causeway, first start', start: () => startCauseway(servers, options, 'first') },
    { name: 'Causeway, later starts', start: () => startCauseway(servers, options, 'later') },
    { name: 'Causeway, ten bridges', start: () => startCauseway(servers, options, 'later', 'bridge') },
    { name: 'Causeway, HTTP+SSE', start: () => startCauseway(servers, options, 'later', 'sse') },
    { name: 'mcp-hub 4.2.1', start: () => startHub(hub, servers, options.folder) },
    { name: 'mcp-proxy 6.7.19, one per server', start: () => startProxies(proxy, servers) },
  ]
}

function findServers(folder: string): readonly ServerProgram[] | string {
  const files = join(folder, 'files')
  mkdirSync(files, { recursive: true })
  const names = ['everything', 'filesystem', 'memory', 'sequential-thinking', 'playwright'] as const
  const programs = names.map((name) => ({ name, program: clientProgram(name, process.env) }))
  if (programs.some(({ program }) => program === undefined))
    return 'install the servers first: node test/downloads/clients.mjs install clients'
  return programs.map(({ name, program }) => ({
    name,
    args: [
      program as string,
      ...(name === 'filesystem' ? [files] : name === 'playwright' ? ['--headless'] : []),
    ],
    env: name === 'memory' ? { MEMORY_FILE_PATH: join(files, 'memory.jsonl') } : {},
  }))
}

/** Tools of Causeway itself. */
const ownTool = /^(Causeway|Replay|Help|Minds|Debrief|ToolVault|Trm)__/

/** `echo` is the name of that tool of server-everything. */
function createSession(clients: readonly Client[], echo: string): Session {
  const [first] = clients as [Client]
  return {
    async countTools() {
      const lists = await Promise.all(clients.map((client) => client.listTools()))
      return lists.flatMap(({ tools }) => tools.filter(({ name }) => !ownTool.test(name))).length
    },
    async echo(message) {
      const { content } = await first.callTool({ name: echo, arguments: { message } })
      return (content as { text: string }[])[0]?.text ?? ''
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

type AnyTransport = StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport

async function connect(transport: AnyTransport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport, { timeout: 180_000 })
  return client
}

const stdio = ({ args, env }: ServerProgram): StdioClientTransport =>
  new StdioClientTransport({ command: process.execPath, args: [...args], env: { ...env }, stderr: 'ignore' })

const startNothing = (servers: readonly ServerProgram[]): Running => ({
  pids: [],
  open: async () => createSession(await Promise.all(servers.map((one) => connect(stdio(one)))), 'echo'),
  stop: async () => {},
})

/** As other clients write it. */
const toConfig = (servers: readonly ServerProgram[], more: object = {}): string =>
  JSON.stringify({
    mcpServers: Object.fromEntries(
      servers.map(({ name, args, env }) => [name, { command: process.execPath, args, env, ...more }]),
    ),
  })

async function startCauseway(
  servers: readonly ServerProgram[],
  { folder, causeway, settings }: SetupOptions,
  when: 'first' | 'later',
  transport: 'http' | 'sse' | 'bridge' = 'http',
): Promise<Running> {
  const data = join(folder, 'gateway-data')
  // A first start has no stored catalogue.
  if (when === 'first') rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'mcp.json'), toConfig(servers, { causeway: { share: 'shared', idleMs: 0 } }))
  const program = await startProgram(causeway, { ...settings, CAUSEWAY_DATA_DIR: data })
  const pids = [program.pid]
  const connectTransport = async (): Promise<Client> => {
    if (transport === 'sse') return connect(new SSEClientTransport(new URL(`${program.url}/sse`)))
    if (transport === 'http') return connect(new StreamableHTTPClientTransport(new URL(`${program.url}/mcp`)))
    const bridge = new StdioClientTransport({
      command: process.execPath,
      args: [bridgeProgram, '--url', `${program.url}/mcp`, '--view', 'full'],
      stderr: 'ignore',
    })
    const client = await connect(bridge)
    pids.push(bridge.pid as number)
    return client
  }
  return {
    pids,
    open: async () => createSession([await connectTransport()], 'Everything__echo'),
    stop: () => program.stop(),
  }
}

async function startHub(
  program: string,
  servers: readonly ServerProgram[],
  folder: string,
): Promise<Running> {
  const config = join(folder, 'mcp-hub.json')
  writeFileSync(config, toConfig(servers))
  const port = await findFreePort()
  const child = spawnQuiet([program, '--port', String(port), '--config', config])
  const url = `http://localhost:${port}`
  await waitFor(async () => {
    const health = (await (await fetch(`${url}/api/health`)).json()) as { state?: string }
    return health.state === 'ready'
  })
  return {
    pids: [child.pid as number],
    open: async () =>
      createSession([await connect(new SSEClientTransport(new URL(`${url}/mcp`)))], 'everything__echo'),
    stop: () => end([child]),
  }
}

async function startProxies(program: string, servers: readonly ServerProgram[]): Promise<Running> {
  const ports = await Promise.all(servers.map(() => findFreePort()))
  const children = servers.map(({ args, env }, index) =>
    spawnQuiet([program, '--port', String(ports[index]), '--', process.execPath, ...args], env),
  )
  for (const port of ports) await waitFor(async () => (await fetch(`http://localhost:${port}/ping`)).ok)
  return {
    pids: children.map(({ pid }) => pid as number),
    open: async () => {
      const urls = ports.map((port) => new URL(`http://localhost:${port}/mcp`))
      return createSession(
        await Promise.all(urls.map((url) => connect(new StreamableHTTPClientTransport(url)))),
        'echo',
      )
    },
    stop: () => end(children),
  }
}

const spawnQuiet = (args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess =>
  spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' })

async function end(children: readonly ChildProcess[]): Promise<void> {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  const ended = running.map((child) => once(child, 'exit'))
  for (const child of running) child.kill()
  await Promise.all(ended)
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Throws after two minutes. */
export async function waitFor(isReady: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 120_000
  while (!(await isReady().catch(() => false))) {
    if (performance.now() > until) throw new Error('a gateway was not ready within two minutes')
    await delay(20)
  }
}
