/** A server whose Replay is measured over HTTP. */
import { Pool } from 'undici'
import { ask } from '../load.ts'
import { type Program, startProgram } from '../program.ts'

/** A server that is asked over REST. */
export interface ReplayServer {
  readonly program: Program
  /** Calls a tool. Returns its result and the latency in milliseconds. */
  tool(name: string, args: object): Promise<{ readonly ms: number; readonly answer: Record<string, unknown> }>
  /** Recordings that are being prepared. */
  preparing(): Promise<number>
  stop(): Promise<void>
}

export async function startReplay(server: readonly string[], env: NodeJS.ProcessEnv): Promise<ReplayServer> {
  const program = await startProgram(server, env)
  const pool = new Pool(program.url, { connections: 4, headersTimeout: 600_000, bodyTimeout: 600_000 })
  return {
    program,
    async tool(name, args) {
      const headers = { 'content-type': 'application/json', 'causeway-session': 'bench' }
      const path = `/api/apps/replay/tools/${name}`
      const before = performance.now()
      const text = await ask({ pool, program, path, headers, body: () => JSON.stringify(args) })
      return { ms: performance.now() - before, answer: JSON.parse(text) }
    },
    async preparing() {
      const health = await (await fetch(`${program.url}/health`)).text()
      return Number(/"preparing":(\d+)/.exec(health)?.[1])
    },
    async stop() {
      await pool.close()
      await program.stop()
    },
  }
}

/** Returns the delay of the event loop since the last call in milliseconds; the timer adds about 10 ms. */
export async function delayMs(url: string, which: 'p99' | 'max'): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (
    Number(new RegExp(`^causeway_nodejs_eventloop_lag_${which}_seconds (\\S+)`, 'm').exec(text)?.[1]) * 1000
  )
}
