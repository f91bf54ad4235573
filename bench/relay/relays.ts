import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { ask } from '../load.ts'
import { nodes, type Program, residentBytes } from '../program.ts'
import { interleaved } from '../rounds.ts'
import { sessionFields } from '../wire/wire.ts'
import { type Contender, findContenders } from './contenders.ts'
import { createField, type Field } from './field.ts'
import { type LineClient, openSession, startLineClient } from './line-client.ts'
import { atOnce, type Calls, inTurn, longCall, type Side } from './relay-calls.ts'
import { bareNode, type Start, startOnce } from './relay-start.ts'
import { type Held, holdUnread } from './relay-unread.ts'

/** Sizes of the measurements. A phase starts no round after its time limit, so that a run stays below four minutes. */
export const plan = {
  starts: { rounds: 7, capMs: 50_000 },
  inTurn: { rounds: 7, calls: 150, capMs: 30_000 },
  atOnce: { rounds: 5, inFlight: 64, ms: 400, capMs: 25_000 },
  large: { rounds: 5, bytes: 1e7, capMs: 30_000 },
}
const warmUp = { calls: 100, atOnce: { inFlight: 64, ms: 200 } }
const settleMs = 1000
const timeoutMs = 20_000
const path = '/mcp/relay'

/** Name of the path without a bridge. */
export const direct = 'direct HTTP'

/** Name of an idle Node. */
export const alone = (version: string): string => `Node ${version} alone`

/** A bridge with an open session. */
type Bridge = LineClient & { readonly name: string }

type Rounds<T> = ReadonlyMap<string, readonly T[]>

/** Memory of a process at three times, in bytes. */
export interface Weight {
  readonly idle: number
  readonly afterCalls: number
  readonly afterLarge: number
}

/** All measurements by contender; a round that was not completed is undefined. */
export interface Relays {
  readonly contenders: readonly Contender[]
  /** A line for each failed measurement. */
  readonly missing: readonly string[]
  /** Idle memory of Node alone in bytes, by version. */
  readonly bare: ReadonlyMap<string, number>
  /** Including those of Node alone. */
  readonly starts: Rounds<Start | undefined>
  readonly inTurn: Rounds<Calls | undefined>
  readonly atOnce: Rounds<Calls | undefined>
  /** Latency of one long result in milliseconds. */
  readonly large: Rounds<number | undefined>
  readonly weights: ReadonlyMap<string, Weight>
  /** One round with a client that reads late. */
  readonly held: Rounds<Held | undefined>
}

/** Measures every available bridge with a server that hosts `relay-app.ts`. */
export async function measureRelays(causeway: Program, home: string): Promise<Relays> {
  const { contenders, missing } = findContenders(`${causeway.url}${path}`, home)
  const field = createField(timeoutMs)
  const started: LineClient[] = []
  const start = (contender: Contender): LineClient => {
    const client = startLineClient(contender)
    started.push(client)
    return client
  }
  const open = async (contender: Contender): Promise<Bridge> => {
    const client = start(contender)
    await openSession(client)
    return { ...client, name: contender.name }
  }
  const pool = new Pool(causeway.url, { connections: 64 })
  try {
    const starts = await interleaved<Start | undefined>(
      [
        ...field.candidates(contenders, 'starting', (one) => startOnce(one, start)),
        ...[...nodes()].map(([version, node]) => ({
          name: alone(version),
          run: () => bareNode(node, () => {}),
        })),
      ],
      plan.starts.rounds,
      plan.starts.capMs,
    )
    const bare = await measureBare()
    const opened = await interleaved(field.candidates(contenders, 'opening a session', open), 1)
    const bridges = [...opened.values()].flat().filter((one) => one !== undefined)
    const asked = await measureSessions(await directSide(causeway, pool), bridges, field)
    for (const bridge of bridges) bridge.kill()
    const late = field.candidates(contenders, 'keeping answers for a late reader', async (contender) => {
      const bridge = await open(contender)
      const held = await holdUnread(bridge)
      bridge.kill()
      return held
    })
    const held = await interleaved(late, 1)
    return { contenders, missing: [...missing, ...field.dropped], bare, starts, ...asked, held }
  } finally {
    for (const client of started) client.kill()
    await pool.destroy()
  }
}

/** Calls each bridge and the server through one session, and measures the memory of the bridges in between. */
async function measureSessions(
  server: Side,
  bridges: readonly Bridge[],
  field: Field,
): Promise<Pick<Relays, 'inTurn' | 'atOnce' | 'large' | 'weights'>> {
  const sides = [server, ...bridges]
  const memory = () => bridges.map(({ pid }) => residentBytes(pid) ?? Number.NaN)
  await pause(settleMs)
  const idle = memory()
  const warm = field.candidates(sides, 'warming up', async (side) => {
    await inTurn(side, warmUp.calls)
    await atOnce(side, warmUp.atOnce)
  })
  await interleaved(warm, 1)
  const one = field.candidates(sides, 'calling in turn', (side) => inTurn(side, plan.inTurn.calls))
  const inTurns = await interleaved(one, plan.inTurn.rounds, plan.inTurn.capMs)
  const many = field.candidates(sides, 'calling at once', (side) => atOnce(side, plan.atOnce))
  const atOnces = await interleaved(many, plan.atOnce.rounds, plan.atOnce.capMs)
  const afterCalls = memory()
  const long = field.candidates(sides, 'reading a long answer', timeOfLarge)
  const large = await interleaved(long, plan.large.rounds, plan.large.capMs)
  const afterLarge = memory()
  const weights = bridges.map(({ name }, index) => {
    const at = (bytes: readonly number[]): number => bytes[index] ?? Number.NaN
    return [name, { idle: at(idle), afterCalls: at(afterCalls), afterLarge: at(afterLarge) }] as const
  })
  return { inTurn: inTurns, atOnce: atOnces, large, weights: new Map(weights) }
}

async function measureBare(): Promise<Relays['bare']> {
  const measured = new Map<string, number>()
  for (const [version, node] of nodes()) {
    const { seen } = await bareNode(node, async (pid) => {
      await pause(settleMs)
      return residentBytes(pid) ?? Number.NaN
    })
    measured.set(version, seen)
  }
  return measured
}

async function directSide(causeway: Program, pool: Pool): Promise<Side> {
  const headers = await sessionFields(causeway, path)
  return {
    name: direct,
    pid: undefined,
    ask: (message) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
      return ask({ pool, program: causeway, path, headers, body: () => body })
    },
  }
}

async function timeOfLarge(side: Side): Promise<number> {
  const before = performance.now()
  await side.ask(longCall(plan.large.bytes))
  return performance.now() - before
}
