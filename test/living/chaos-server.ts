/** A server to which things happen that no client and no signal can cause. */
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

/** What happens: every worker thread ends, or the clock is so many ms from the true one. */
export type Deed = 'workers' | { readonly clockMs: number }

/** The server, and what makes it happen. */
export interface ChaosServer extends RunningServer {
  /** Does it; gives the line in which the server tells so. */
  cause(deed: Deed): Promise<LogLine>
}

const hook = fileURLToPath(new URL('./chaos-hook.mjs', import.meta.url))

/** Starts it; `folder` is for the note that tells it what to do. */
export async function startChaosServer(t: Test, start: ServerStart, folder: string): Promise<ChaosServer> {
  const note = join(folder, 'chaos')
  const running = await startServer(t, {
    ...start,
    program: [`--import=${hook}`, ...fromSource],
    env: { ...start.env, CHAOS_FILE: note },
  })
  const { server } = running
  let caused = 0
  return {
    ...running,
    async cause(deed) {
      writeFileSync(note, deed === 'workers' ? deed : `clock ${deed.clockMs}`)
      caused += 1
      const nth = caused
      server.process.kill('SIGUSR2')
      let seen = 0
      return server.log.first('the line "chaos"', ({ msg }) => msg === 'chaos' && ++seen === nth)
    },
  }
}
