/** A server that dies at random moments and is started again on the same data, as a game meets it. */
import type { Test } from 'tap'
import { type RunningServer, startServer } from '../e2e/server-process.ts'
import type { Random } from '../random.ts'
import { type Answer, type Client, connect } from './client.ts'

interface Life {
  readonly running: RunningServer
  readonly client: Client
}

/** Settings of a server for a town. */
export const townEnv = { CAUSEWAY_APPS: 'Minds', CAUSEWAY_RATE_LIMITS: 'off' } as const

/** What may happen to the server. */
export interface Fate {
  /** Numbers of the calls during which it is killed. */
  readonly kills: ReadonlySet<number>
  readonly random: Random
}

/** The server through all its lives; a call that dies with it is made again. */
export class MortalServer {
  /** Calls so far. */
  calls = 0
  deaths = 0
  readonly #t: Test
  readonly #dir: string
  readonly #fate: Fate
  #life: Promise<Life>

  constructor(t: Test, dir: string, fate: Fate) {
    this.#t = t
    this.#dir = dir
    this.#fate = fate
    this.#life = this.#start()
  }

  /** Asks a tool, again if the server dies meanwhile. */
  readonly call = async (tool: string, args: object): Promise<Answer> => {
    this.calls += 1
    let isDoomed = this.#fate.kills.has(this.calls)
    for (;;) {
      const life = this.#life
      const { running, client } = await life
      const answer = client.call(tool, args)
      if (isDoomed) {
        isDoomed = false
        setTimeout(() => running.server.process.kill('SIGKILL'), this.#fate.random.below(6))
      }
      try {
        return await answer
      } catch (error) {
        if (running.server.process.exitCode === null && !running.server.process.killed) throw error
        if (this.#life === life) this.#life = this.#revive(life)
      }
    }
  }

  /** The memories of a mind, with ids. */
  async memories(mindId: string): Promise<readonly { readonly id: string; readonly content: string }[]> {
    const { client } = await this.#life
    const lasting = await client.read(`mind://${mindId}/memories?limit=1000`)
    const daily = await client.read(`mind://${mindId}/daily_memories`)
    return [lasting, daily].flatMap((rows) => rows as readonly { id: string; content: string }[]) // JSON of the app
  }

  async stop(): Promise<void> {
    const { running, client } = await this.#life
    await client.close()
    await running.server.stop()
  }

  async #start(): Promise<Life> {
    const running = await startServer(this.#t, { dir: this.#dir, env: townEnv })
    return { running, client: connect(running.url) }
  }

  async #revive(life: Promise<Life>): Promise<Life> {
    const { running, client } = await life
    await running.server.exited
    await client.close()
    this.deaths += 1
    return this.#start()
  }
}
