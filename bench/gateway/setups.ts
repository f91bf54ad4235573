import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  Client,
  type RequestOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { clientProgram, gatewayProgram } from '../../test/downloads/clients.mjs'
import { startProgram } from '../program.ts'

/** A session of a client that uses all servers. */
export interface Session {
  /** Counts the tools of the servers. */
  countTools(): Promise<number>
  /** Calls a tool of a server and returns its first text. */
  call(server: string, tool: string, args: Record<string, unknown>, options?: RequestOptions): Promise<string>
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
  /** Starts the way with all servers, or with these. */
  start(servers?: readonly ServerProgram[]): Promise<Running>
}

const bridgeProgram = fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))

export interface ServerProgram {
  readonly name: string
  /** The program; Node if omitted. */
  readonly command?: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Causeway's sharing mode; `shared` if omitted. */
  readonly share?: 'shared' | 'client'
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
    { name: 'no gateway', start: async (used = servers) => startNothing(used) },
    { name: 'Causeway, first start', start: (used = servers) => startCauseway(used, options, 'first') },
    { name: 'Causeway, later starts', start: (used = servers) => startCauseway(used, options, 'later') },
    {
      name: 'Causeway, ten bridges',
      start: (used = servers) => startCauseway(used, options, 'later', 'bridge'),
    },
    { name: 'Causeway, HTTP+SSE', start: (used = servers) => startCauseway(used, options, 'later', 'sse') },
    { name: 'mcp-hub 4.2.1', start: (used = servers) => startHub(hub, used, options.folder) },
    { name: 'mcp-proxy 6.7.19, one per server', start: (used = servers) => startProxies(proxy, used) },
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

/** `find` returns the client of a server and the name of its tool there. */
function createSession(
  clients: readonly Client[],
  find: (server: string, tool: string) => readonly [Client | undefined, string],
): Session {
  return {
    async countTools() {
      const lists = await Promise.all(clients.map((client) => client.listTools()))
      return lists.flatMap(({ tools }) => tools.filter(({ name }) => !ownTool.test(name))).length
    },
    async call(server, tool, args, options) {
      const [client, name] = find(server, tool)
      const { content } = (await client?.callTool({ name, arguments: args }, options)) ?? {}
      return (content as { text: string }[])[0]?.text ?? ''
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

/** A session with one client for all servers. */
const createJoined = (client: Client, prefix: (server: string) => string): Session =>
  createSession([client], (server, tool) => [client, `${prefix(server)}__${tool}`])

/** A session with a client for each server. */
const createSeparate = (clients: ReadonlyMap<string, Client>): Session =>
  createSession([...clients.values()], (server, tool) => [clients.get(server), tool])

async function connectEach(
  servers: readonly ServerProgram[],
  open: (server: ServerProgram, index: number) => AnyTransport,
): Promise<Session> {
  const clients = await Promise.all(
    servers.map(async (one, index) => [one.name, await connect(open(one, index))] as const),
  )
  return createSeparate(new Map(clients))
}

const capitalize = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

type AnyTransport = StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport

async function connect(transport: AnyTransport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport, { timeout: 180_000 })
  return client
}

const stdio = ({ command = process.execPath, args, env }: ServerProgram): StdioClientTransport =>
  new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'ignore' })

const startNothing = (servers: readonly ServerProgram[]): Running => ({
  pids: [],
  open: () => connectEach(servers, stdio),
  stop: async () => {},
})

/** As other clients write it. */
const toConfig = (servers: readonly ServerProgram[]): string =>
  JSON.stringify({
    mcpServers: Object.fromEntries(
      servers.map(({ name, command = process.execPath, args, env, share = 'shared' }) => [
        name,
        { command, args, env, causeway: { share, idleMs: 0 } },
      ]),
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
  writeFileSync(join(data, 'mcp.json'), toConfig(servers))
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
    open: async () => createJoined(await connectTransport(), capitalize),
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
  await startOrEnd([child], async () => {
    const health = (await (await fetch(`${url}/api/health`)).json()) as { state?: string }
    return health.state === 'ready'
  })
  return {
    pids: [child.pid as number],
    open: async () =>
      createJoined(await connect(new SSEClientTransport(new URL(`${url}/mcp`))), (server) => server),
    stop: () => end([child]),
  }
}

async function startProxies(program: string, servers: readonly ServerProgram[]): Promise<Running> {
  const ports = await Promise.all(servers.map(() => findFreePort()))
  const children = servers.map(({ command = process.execPath, args, env }, index) =>
    spawnQuiet([program, '--port', String(ports[index]), '--', command, ...args], env),
  )
  for (const port of ports)
    await startOrEnd(children, async () => (await fetch(`http://localhost:${port}/ping`)).ok)
  return {
    pids: children.map(({ pid }) => pid as number),
    open: () =>
      connectEach(
        servers,
        (_server, index) =>
          new StreamableHTTPClientTransport(new URL(`http://localhost:${ports[index]}/mcp`)),
      ),
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

/** Waits until a gateway is ready. Ends its processes if it is not. */
async function startOrEnd(children: readonly ChildProcess[], isReady: () => Promise<boolean>): Promise<void> {
  try {
    await waitFor(isReady)
  } catch (error) {
    await end(children)
    throw error
  }
}

/** Throws after two minutes, or after this time. */
export async function waitFor(isReady: () => Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const until = performance.now() + timeoutMs
  while (!(await isReady().catch(() => false))) {
    if (performance.now() > until) throw new Error(`a gateway was not ready within ${timeoutMs} ms`)
    await delay(20)
  }
}
