/** Concurrent faults: kills of every kind, clients that disconnect or do not read, and more calls than the limits allow. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Random, randomFrom } from '../random.ts'
import { SoakClient } from './client.ts'
import { createMinds, emptyLedger, findMissing, type Ledger, recordRun } from './ledger.ts'
import type { ProductSoakPlan } from './product-soak.ts'
import { WholeServer } from './whole-server.ts'

/** The result. The soak passes if there are no faults. */
export interface ChaosReport {
  /** Number of times that each action ran. */
  readonly done: Readonly<Record<string, number>>
  readonly accepted: { readonly minds: number; readonly frames: number }
  readonly faults: readonly string[]
}

/** Limits that bursts exceed. */
const lowLimits = { CAUSEWAY_CONCURRENCY: '*=16', CAUSEWAY_MAX_INFLIGHT: '64', CAUSEWAY_SHUTDOWN_MS: '2000' }

type Action = (scene: Scene) => Promise<void>

interface Scene {
  readonly server: WholeServer
  readonly random: Random
  readonly ledger: Ledger
  readonly faults: string[]
}

/** Runs the soak. Throws only if a server cannot be started. */
export async function chaos({ seconds, seed, print }: ProductSoakPlan): Promise<ChaosReport> {
  const random = randomFrom(seed)
  const server = await WholeServer.create(lowLimits)
  const ledger = emptyLedger()
  const faults: string[] = []
  const done: Record<string, number> = {}
  try {
    await server.start()
    const until = Date.now() + seconds * 1000
    const work = [
      ...['north', 'south'].map((name) => createMinds(server, { name, until, ledger })),
      ...['run-a', 'run-b'].map((name) => recordRun(server, { name, until, ledger, random })),
    ]
    const scene = { server, random, ledger, faults }
    const under: Promise<void>[] = []
    while (Date.now() < until) {
      const name = random.pick(Object.keys(actions))
      done[name] = (done[name] ?? 0) + 1
      const action = (actions[name] as Action)(scene).catch(
        (error: unknown) => void faults.push(`${name}: ${error}`),
      )
      if (name === 'killServer' || name === 'stopServer') await action
      else under.push(action)
      await wait(random.below(400))
    }
    await Promise.all([...work, ...under])
    if (!(await server.isHealthy())) await server.restart('SIGTERM')
    print(`done: ${JSON.stringify(done)}`)
    faults.push(...ledger.hung.map((what) => `no response in time: ${what}`))
    faults.push(...(await findMissing(ledger, server)).map((what) => `was accepted and is missing: ${what}`))
    await server.end('SIGTERM')
    faults.push(...(await findOrphans(server)))
    const frames = [...ledger.frames.values()].reduce((sum, last) => sum + last, 0)
    return { done, accepted: { minds: ledger.minds.size, frames }, faults }
  } finally {
    await server.remove()
  }
}

const body = (tool: string, args: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } })

/** Slow calls of each app that uses workers or processes. */
const slow = [
  body('Replay__compare_recordings', { a: 'incline_slides', b: 'incline_sticks', exact: true }),
  body('Replay__query_sql', {
    recording: 'drop',
    sql: 'SELECT count(*) FROM SimulationFrameRecord a, SimulationFrameRecord b',
  }),
  body('Replay__render_frame', { recording: 'stack', frame_id: 10 }),
  body('Trm__start', { repo: 'sums', test: 'python3 -m unittest', wait: 5 }),
  body('Debrief__render_map', { filename: 'sample.plot.json' }),
  body('ToolVault__import_rep', { path: 'boats.rep' }),
]

/** Sends a request on a TCP connection and reads nothing. `after` decides how the connection continues. */
async function sendUnread(
  { server }: Scene,
  text: string,
  after: (socket: ReturnType<typeof connect>) => Promise<void>,
) {
  const { hostname: host, port } = new URL(server.url)
  const socket = connect({ host, port: Number(port) }).on('error', () => {}) // the server may not run
  socket.pause()
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`)
  await after(socket)
  socket.destroy()
}

const actions: Readonly<Record<string, Action>> = {
  /** Disconnects between the request and the end of its response. */
  vanish: (scene) =>
    sendUnread(scene, scene.random.pick(slow), async (socket) => {
      await wait(scene.random.below(800))
      socket.resetAndDestroy()
    }),
  /** Requests large responses and reads nothing for a while. */
  readSlowly: (scene) =>
    sendUnread(scene, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', () =>
      wait(500 + scene.random.below(3000)),
    ),
  /** Opens an event stream and disconnects. */
  async leaveStream({ server, random }) {
    const hangUp = new AbortController()
    await fetch(`${server.url}/sse`, { signal: hangUp.signal }).catch(() => {}) // aborted, or the server does not run
    await wait(random.below(1500))
    hangUp.abort()
  },
  /** Sends more concurrent calls than the limits allow. Each gets a response, or its connection closes with the server. */
  async burst({ server, ledger }) {
    await Promise.all(
      Array.from({ length: 120 }, async (_, at) => {
        const response = fetch(`${server.url}/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(at % 2 === 0 ? 'Replay__list_recordings' : 'Minds__list_minds'),
          signal: AbortSignal.timeout(120_000),
        })
        await response
          .then((got) => got.text())
          .catch((error: Error) => error.name === 'TimeoutError' && ledger.hung.push('a call of a burst'))
      }),
    )
  },
  /** Kills a bridge during its calls. */
  async killBridge({ server, random }) {
    const bridge = new SoakClient(`${server.url}/mcp`, randomFrom(random.below(2 ** 31)))
    await Promise.race([bridge.run(Date.now() + 3000), wait(300 + random.below(2000))])
    bridge.kill()
  },
  /** Kills a child process of the server, such as a project's test or a query. */
  async killChild({ server, random }) {
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: random.pick(slow),
      signal: AbortSignal.timeout(30_000),
    }).then(
      (response) => response.text(),
      () => '', // the server may not run
    )
    await wait(random.below(600))
    const children = findChildren(server.pid)
    if (children.length > 0) endProcess(random.pick(children))
  },
  killServer: ({ server }) => server.restart('SIGKILL').then(() => {}),
  async stopServer({ server, faults }) {
    const code = await server.restart('SIGTERM')
    if (code !== 0) faults.push(`after SIGTERM the server exited with ${code}: ${server.stderrTail}`)
  },
}

/** Sends SIGKILL to a process if it still runs. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited.
  }
}

const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** Returns the pids of the running children of a process. */
export function findChildren(pid: number): number[] {
  return pids().filter((one) => {
    try {
      return readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid)
    } catch {
      return false // the process has exited
    }
  })
}

/** Returns the processes that still run in the folders of a stopped server after a minute. */
async function findOrphans({ base }: WholeServer): Promise<string[]> {
  const left = (): number[] =>
    pids().filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(base)
      } catch {
        return false // the process has exited or belongs to a different user
      }
    })
  for (const deadline = Date.now() + 60_000; left().length > 0 && Date.now() < deadline; ) await wait(100)
  return left().map((pid) => `the process ${pid} was left behind`)
}
