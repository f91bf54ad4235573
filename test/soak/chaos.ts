/** Everything that goes wrong at once: kills of every kind, clients that vanish or do not read, and more calls than there is room for. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Random, randomFrom } from '../random.ts'
import { SoakClient } from './client.ts'
import { createMinds, emptyLedger, type Ledger, missingFrom, recordRun } from './ledger.ts'
import type { ProductSoakPlan } from './product-soak.ts'
import { WholeServer } from './whole-server.ts'

/** What came of it; without faults it has passed. */
export interface ChaosReport {
  /** How often each thing was done. */
  readonly done: Readonly<Record<string, number>>
  readonly accepted: { readonly minds: number; readonly frames: number }
  readonly faults: readonly string[]
}

/** Little enough room that bursts fill it. */
const narrow = { CAUSEWAY_CONCURRENCY: '*=16', CAUSEWAY_MAX_INFLIGHT: '64', CAUSEWAY_SHUTDOWN_MS: '2000' }

type Deed = (scene: Scene) => Promise<void>

interface Scene {
  readonly server: WholeServer
  readonly random: Random
  readonly ledger: Ledger
  readonly faults: string[]
}

/** Runs it; throws only where a server cannot be started. */
export async function chaos({ seconds, seed, say }: ProductSoakPlan): Promise<ChaosReport> {
  const random = randomFrom(seed)
  const server = await WholeServer.create(narrow)
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
      const name = random.pick(Object.keys(deeds))
      done[name] = (done[name] ?? 0) + 1
      const deed = (deeds[name] as Deed)(scene).catch(
        (error: unknown) => void faults.push(`${name}: ${error}`),
      )
      if (name === 'killServer' || name === 'stopServer') await deed
      else under.push(deed)
      await wait(random.below(400))
    }
    await Promise.all([...work, ...under])
    if (!(await server.isWell())) await server.restart('SIGTERM')
    say(`done: ${JSON.stringify(done)}`)
    faults.push(...ledger.hung.map((what) => `no answer in time: ${what}`))
    faults.push(
      ...(await missingFrom(ledger, server)).map((what) => `was accepted and is not there: ${what}`),
    )
    await server.end('SIGTERM')
    faults.push(...(await orphansOf(server)))
    const frames = [...ledger.frames.values()].reduce((sum, last) => sum + last, 0)
    return { done, accepted: { minds: ledger.minds.size, frames }, faults }
  } finally {
    await server.remove()
  }
}

const body = (tool: string, args: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } })

/** Calls that take a while, of each app that works elsewhere: in workers, in processes. */
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

/** A request on a bare connection, of which nothing is read until `after` has said what becomes of it. */
async function bare(
  { server }: Scene,
  text: string,
  after: (socket: ReturnType<typeof connect>) => Promise<void>,
) {
  const { hostname: host, port } = new URL(server.url)
  const socket = connect({ host, port: Number(port) }).on('error', () => {}) // the server may be away
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

const deeds: Readonly<Record<string, Deed>> = {
  /** Hangs up somewhere between the request and the end of its answer. */
  vanish: (scene) =>
    bare(scene, scene.random.pick(slow), async (socket) => {
      await wait(scene.random.below(800))
      socket.resetAndDestroy()
    }),
  /** Asks for large answers, and reads nothing of them for a while. */
  readSlowly: (scene) =>
    bare(scene, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', () => wait(500 + scene.random.below(3000))),
  /** Opens an event stream and leaves it. */
  async leaveStream({ server, random }) {
    const hangUp = new AbortController()
    await fetch(`${server.url}/sse`, { signal: hangUp.signal }).catch(() => {}) // away
    await wait(random.below(1500))
    hangUp.abort()
  },
  /** More calls at once than may run: each is answered, or its connection breaks with its server. */
  async burst({ server, ledger }) {
    await Promise.all(
      Array.from({ length: 120 }, async (_, at) => {
        const answer = fetch(`${server.url}/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(at % 2 === 0 ? 'Replay__list_recordings' : 'Minds__list_minds'),
          signal: AbortSignal.timeout(120_000),
        })
        await answer
          .then((got) => got.text())
          .catch((error: Error) => error.name === 'TimeoutError' && ledger.hung.push('a call of a burst'))
      }),
    )
  },
  /** A bridge dies in the middle of its calls. */
  async killBridge({ server, random }) {
    const bridge = new SoakClient(`${server.url}/mcp`, randomFrom(random.below(2 ** 31)))
    await Promise.race([bridge.run(Date.now() + 3000), wait(300 + random.below(2000))])
    bridge.kill()
  },
  /** A process that the server has started dies: a test of a project, a query. */
  async killChild({ server, random }) {
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: random.pick(slow),
      signal: AbortSignal.timeout(30_000),
    }).then(
      (answer) => answer.text(),
      () => '', // the server may be away
    )
    await wait(random.below(600))
    const children = childrenOf(server.pid)
    if (children.length > 0) endProcess(random.pick(children))
  },
  killServer: ({ server }) => server.restart('SIGKILL').then(() => {}),
  async stopServer({ server, faults }) {
    const code = await server.restart('SIGTERM')
    if (code !== 0) faults.push(`told to stop, the server ended with ${code}: ${server.lastWords}`)
  },
}

/** Sends SIGKILL to a process, unless it has ended. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

const pids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): number[] {
  return pids().filter((one) => {
    try {
      return readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid)
    } catch {
      return false // gone meanwhile
    }
  })
}

/** Processes that still work in the folders of a server that has ended, after ten seconds. */
async function orphansOf({ base }: WholeServer): Promise<string[]> {
  const left = (): number[] =>
    pids().filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(base)
      } catch {
        return false // gone meanwhile, or not ours to look at
      }
    })
  for (const deadline = Date.now() + 60_000; left().length > 0 && Date.now() < deadline; ) await wait(100)
  return left().map((pid) => `the process ${pid} was left behind`)
}
