/** A server with faults that clients and signals cannot cause. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import {
  fromSource,
  type LogLine,
  type RunningServer,
  type ServerStart,
  startServer,
} from '../e2e/server-process.ts'

/** A fault: terminates every worker thread, or sets the clock's offset from the real time in milliseconds. */
export type Fault = 'workers' | { readonly clockMs: number }

/** A running server that can inject faults. */
export interface ChaosServer extends RunningServer {
  /** Injects a fault and returns the log line of the server about it. */
  inject(fault: Fault): Promise<LogLine>
}

const hook = fileURLToPath(new URL('./chaos-hook.mjs', import.meta.url))

/** Starts the server. `folder` is for the file with the server's next fault. */
export async function startChaosServer(t: Test, start: ServerStart, folder: string): Promise<ChaosServer> {
  const file = join(folder, 'chaos')
  const running = await startServer(t, {
    ...start,
    program: [`--import=${hook}`, ...fromSource],
    env: { ...start.env, CHAOS_FILE: file },
  })
  const { server } = running
  let injected = 0
  return {
    ...running,
    async inject(fault) {
      writeFileSync(file, fault === 'workers' ? fault : `clock ${fault.clockMs}`)
      injected += 1
      const nth = injected
      server.process.kill('SIGUSR2')
      let seen = 0
      return server.log.first('the line "chaos"', ({ msg }) => msg === 'chaos' && ++seen === nth)
    },
  }
}
