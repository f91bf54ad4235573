/** A server that is killed at random moments and restarted with the same data. */
import type { Test } from 'tap'
import { type RunningServer, startServer } from '../e2e/server-process.ts'
import type { Random } from '../random.ts'
import { type Answer, type Client, connect } from './client.ts'

interface Instance {
  readonly running: RunningServer
  readonly client: Client
}

/** Environment variables of a server for a town. */
export const townEnv = { CAUSEWAY_APPS: 'Minds', CAUSEWAY_RATE_LIMITS: 'off' } as const

/** Defines when the server is killed. */
export interface CrashPlan {
  /** Numbers of the calls during which the server is killed, counted from 1. */
  readonly kills: ReadonlySet<number>
  readonly random: Random
}

/** Runs a server and retries the calls that a crash interrupts. */
export class CrashingServer {
  calls = 0
  crashes = 0
  readonly #t: Test
  readonly #dir: string
  readonly #plan: CrashPlan
  #instance: Promise<Instance>

  constructor(t: Test, dir: string, plan: CrashPlan) {
    this.#t = t
    this.#dir = dir
    this.#plan = plan
    this.#instance = this.#start()
  }

  /** Calls a tool. Retries if the server crashes during the call. */
  readonly call = async (tool: string, args: object): Promise<Answer> => {
    this.calls += 1
    let killPending = this.#plan.kills.has(this.calls)
    for (;;) {
      const instance = this.#instance
      const { running, client } = await instance
      const answer = client.call(tool, args)
      if (killPending) {
        killPending = false
        setTimeout(() => running.server.process.kill('SIGKILL'), this.#plan.random.below(6))
      }
      try {
        return await answer
      } catch (error) {
        if (running.server.process.exitCode === null && !running.server.process.killed) throw error
        if (this.#instance === instance) this.#instance = this.#restart(instance)
      }
    }
  }

  /** Returns the long-term and daily memories of a mind. */
  async memories(mindId: string): Promise<readonly { readonly id: string; readonly content: string }[]> {
    const { client } = await this.#instance
    const lasting = await client.read(`mind://${mindId}/memories?limit=1000`)
    const daily = await client.read(`mind://${mindId}/daily_memories`)
    return [lasting, daily].flatMap((rows) => rows as readonly { id: string; content: string }[]) // JSON of the app
  }

  async stop(): Promise<void> {
    const { running, client } = await this.#instance
    await client.close()
    await running.server.stop()
  }

  async #start(): Promise<Instance> {
    const running = await startServer(this.#t, { dir: this.#dir, env: townEnv })
    return { running, client: connect(running.url) }
  }

  async #restart(instance: Promise<Instance>): Promise<Instance> {
    const { running, client } = await instance
    await running.server.exited
    await client.close()
    this.crashes += 1
    return this.#start()
  }
}
