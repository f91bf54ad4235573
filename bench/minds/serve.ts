/** A server with Minds, the observations that it receives, and the latency of its calls. */
import { Pool } from 'undici'
import { type Program, startProgram } from '../program.ts'
import { number } from '../report.ts'

/** A server with Minds and functions to call it. */
export interface Asked {
  readonly program: Program
  readonly pool: Pool
  call(tool: string, args: object): Promise<Record<string, unknown>>
}

export const places = ['bakery', 'mill', 'forge', 'harbour', 'market', 'school', 'temple', 'orchard']
export const activities = [
  'sells bread',
  'repairs tools',
  'writes stories',
  'buys fish',
  'teaches children',
  'guards the gate',
]

export async function serve(
  server: readonly string[],
  dir: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Asked> {
  const program = await startProgram(server, {
    CAUSEWAY_DATA_DIR: dir,
    CAUSEWAY_APPS: 'Minds',
    MCP_SERVER_PORT: '0',
    CAUSEWAY_RATE_LIMITS: 'off',
    ...env,
  })
  const pool = new Pool(program.url, { connections: 64 })
  return {
    program,
    pool,
    async call(name, args) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      })
      const answer = await pool.request({
        method: 'POST',
        path: '/mcp/minds',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const text = await answer.body.text()
      const { result } = JSON.parse(text) as {
        result?: { isError?: boolean; structuredContent?: Record<string, unknown> }
      }
      if (result?.structuredContent === undefined || result.isError === true)
        throw new Error(`${name} answered ${text.slice(0, 300)}`)
      return result.structuredContent
    },
  }
}

export async function over<T>(asked: Asked, use: (asked: Asked) => Promise<T>): Promise<T> {
  try {
    return await use(asked)
  } finally {
    await asked.pool.close()
    await asked.program.stop()
  }
}

export const observation = (entity_id: string, step: number) => ({
  entity_id,
  current_simulation_time: 200_000 + 3 * step,
  status: { position: [step % 40, 7], current_interaction: {}, controller_state: { state_name: 'idle' } },
  needs: {
    needs: { hunger: (step * 7) % 100, energy: (step * 11) % 100, fun: 60, hygiene: 80 },
    max_value: 100,
  },
  vision: {
    visible_entities: ['stove', 'bed', 'bath', 'bench'].map((name, n) => ({
      entity_id: `${name}_${n}`,
      display_name: name,
      position: [(step % 40) + n, 9],
      interactions: {
        [`use_${name}`]: { name: `use_${name}`, needs_filled: [['hunger', 'energy', 'hygiene', 'fun'][n]] },
      },
    })),
  },
})

/** Returns the sorted latencies of calls with a number of them in flight, in milliseconds. */
export async function timed(
  count: number,
  inFlight: number,
  call: (n: number) => Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = []
  let next = 0
  const one = async (): Promise<void> => {
    while (next < count) {
      const n = next++
      const before = performance.now()
      await call(n)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  return times.sort((a, b) => a - b)
}

export const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
export const ms = (value: number): string => `${number(value)} ms`

/** An observation in which another character asks a question. */
export const questioned = (entity_id: string, step: number) => {
  const interaction = { interaction_id: `talk_${step >> 3}`, interaction_name: 'conversation' }
  const message = `Who ${activities[step % activities.length]} at the ${places[step % places.length]}?`
  const said = { speaker_id: 'visitor', speaker_name: 'Visitor', message, timestamp: 200_000 + 3 * step }
  return {
    ...observation(entity_id, step),
    status: {
      position: [1, 7],
      movement_locked: true,
      current_interaction: { ...interaction, needs_filled: ['social'] },
      controller_state: { state_name: 'interacting' },
    },
    conversations: [{ ...interaction, participants: ['visitor', entity_id], conversation_history: [said] }],
  }
}
