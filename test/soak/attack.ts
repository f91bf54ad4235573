/** 64 mixed clients while child processes of the server are killed and another client sends expensive requests. */
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { pathName, wireName } from '@causeway/protocol'
import { request } from 'undici'
import { findFaults } from '../fuzz/judge.ts'
import { openWays, type Ways } from '../fuzz/ways.ts'
import { type Random, randomFrom } from '../random.ts'
import type { AttackerData, AttackResult } from './attacker.ts'
import { endProcess, findChildren } from './chaos.ts'
import { SoakClient } from './client.ts'
import type { HealthProbeData, HealthProbeResult } from './health-probe.ts'
import type { ProductSoakPlan } from './product-soak.ts'
import { WholeServer } from './whole-server.ts'

/** Options for the attack soak. */
export interface AttackPlan extends ProductSoakPlan {
  /** Fails the soak if the 99th percentile of /health is above this, in ms. Default: no limit. */
  readonly maxHealthP99Ms?: number | undefined
}

/** The result. The soak passes if there are no faults. */
export interface AttackReport {
  readonly clients: number
  /** Numbers of sent and answered requests. */
  readonly sent: number
  readonly answered: number
  /** Number of accepted changes. Each must exist exactly once at the end. */
  readonly changes: number
  /** Number of calls that were sent twice concurrently with one request id. */
  readonly repeats: number
  readonly killedProcesses: number
  /** Number of calls that failed with `WORKER_LOST` and were retried. */
  readonly lostWorkers: number
  readonly attacks: number
  /** The attacks with the longest waits of another client for /health, in ms. */
  readonly worstAttacks: Readonly<Record<string, number>>
  /** Response times of /health, in ms. */
  readonly health: {
    readonly count: number
    readonly p50: number
    readonly p99: number
    readonly max: number
  }
  readonly faults: readonly string[]
}

const bridges = 8
/** Each of these ways is used by `clientsPerWay` clients. */
const ways = ['session', 'stateless', 'rest', 'events'] as const
const clientsPerWay = 14

const plots = ['sample.plot.json', 'mission1.plot.json', 'mission2.plot.json', 'encounter.plot.json']
/** Limits the size of the plots, because each change adds a feature. */
const maxFeatures = 800

/** Response timeout in milliseconds. */
const responseMs = 60_000

interface Call {
  readonly app: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** Runs the soak. Throws only if the server cannot be started. */
export async function attackSoak({
  seconds,
  seed,
  print,
  maxHealthP99Ms,
}: AttackPlan): Promise<AttackReport> {
  const server = await WholeServer.create()
  try {
    await server.start()
    return await new AttackSoak(server, { seconds, seed, print, maxHealthP99Ms }).run()
  } finally {
    await server.remove()
  }
}

class AttackSoak {
  readonly #server: WholeServer
  readonly #plan: AttackPlan
  readonly #random: Random
  readonly #faults: string[] = []
  /** Minds and feature names that must exist exactly once. */
  readonly #minds = new Set<string>()
  readonly #features = new Set<string>()
  #healthMs: readonly number[] = []
  readonly #blockedMs = new Map<string, number>()
  readonly #counts = { sent: 0, answered: 0, repeats: 0, killed: 0, lostWorkers: 0, attacks: 0 }
  #changes = 0
  #until = 0

  constructor(server: WholeServer, plan: AttackPlan) {
    this.#server = server
    this.#plan = plan
    this.#random = randomFrom(plan.seed)
  }

  async run(): Promise<AttackReport> {
    const { seconds, maxHealthP99Ms, print } = this.#plan
    await this.#warmUp()
    const { pid } = this.#server
    this.#until = Date.now() + seconds * 1000
    const clients = Array.from({ length: bridges }, () => this.#bridge())
    await Promise.all([
      ...clients.map((client) => client.run(this.#until)),
      ...ways.flatMap((way) => Array.from({ length: clientsPerWay }, () => this.#client(way))),
      this.#killProcesses(),
      this.#attack(),
      this.#probeHealth(),
    ])
    print('load ended, checking the ledger')
    for (const client of clients) {
      await client.settle(responseMs)
      await client.end()
      this.#counts.sent += client.sent
      this.#counts.answered += client.outcomes.result + client.outcomes.error + client.cancelled
      this.#faults.push(...client.faults)
    }
    await this.#checkLedger()
    if (this.#server.pid !== pid || !(await this.#server.isHealthy()))
      this.#faults.push(`the server is not healthy at the end: ${this.#server.stderrTail}`)
    const health = percentiles(this.#healthMs)
    if (maxHealthP99Ms !== undefined && health.p99 > maxHealthP99Ms)
      this.#faults.push(
        `/health took ${health.p99} ms at the 99th percentile; the limit is ${maxHealthP99Ms} ms`,
      )
    const { killed, ...counts } = this.#counts
    if (killed === 0) this.#faults.push('no child process was killed')
    const worst = [...this.#blockedMs].sort(([, a], [, b]) => b - a).slice(0, 8)
    return {
      clients: clients.length + ways.length * clientsPerWay,
      ...counts,
      killedProcesses: killed,
      changes: this.#minds.size + this.#features.size,
      worstAttacks: Object.fromEntries(worst),
      health,
      faults: this.#faults,
    }
  }

  /** Starts a bridge with mixed traffic. Its client checks that each request gets exactly one response. */
  #bridge(): SoakClient {
    const random = randomFrom(this.#random.below(2 ** 31))
    const calls = reads.map(({ app, name, args }) => ({ name: wireName(app, name), arguments: args }))
    return new SoakClient(`${this.#server.url}/mcp`, random, calls)
  }

  async #client(way: (typeof ways)[number]): Promise<void> {
    const random = randomFrom(this.#random.below(2 ** 31))
    const client = await openWays(this.#server)
    try {
      while (Date.now() < this.#until) {
        const chance = random.below(1000)
        if (chance < 20) await this.#ask(client, way, random.pick(queries))
        else if (chance < 23) await this.#runTests(client, way)
        else if (chance < 600) await this.#ask(client, way, random.pick(reads))
        else await this.#change(client, way, random)
        await wait(300 + random.below(700))
      }
    } catch (error) {
      this.#faults.push(`a client (${way}) failed: ${(error as Error).stack}`)
    } finally {
      await client.close()
    }
  }

  /** Runs the tests of a project in a session of Trm, and ends the session: the number of open sessions is limited. */
  async #runTests(client: Ways, way: string): Promise<void> {
    const started = await this.#ask(client, way, run)
    const sessionId = /"sessionId":"([\w-]+)"/.exec(started ?? '')?.[1]
    if (sessionId !== undefined)
      await this.#ask(client, way, { app: 'Trm', name: 'end', args: { sessionId } })
    else if (started !== undefined) this.#faults.push(`${way} Trm.start returned no session: ${started}`)
  }

  /** Makes a change. A change with a request id is sometimes sent twice concurrently. */
  async #change(client: Ways, way: string, random: Random): Promise<void> {
    this.#changes += 1
    const name = `change-${this.#changes}`
    const isFeature = random.below(4) === 0 && this.#features.size < maxFeatures
    const call = isFeature ? addFeature(random.pick(plots), name) : createMind(name)
    // Features have no request id in their arguments.
    const isRepeated = !isFeature && random.below(5) === 0
    if (isRepeated) this.#counts.repeats += 1
    const calls = [this.#ask(client, way, call), ...(isRepeated ? [this.#ask(client, way, call)] : [])]
    if ((await Promise.all(calls)).every((response) => response !== undefined))
      (isFeature ? this.#features : this.#minds).add(name)
  }

  /** Retries a call while it fails with a retryable error. Resolves to the text of the response, `undefined` if the call failed. */
  async #ask(client: Ways, way: string, call: Call): Promise<string | undefined> {
    const end = Date.now() + responseMs
    for (let isRetry = false; ; isRetry = true) {
      this.#counts.sent += 1
      const { form, response } = await client.call(way, call, call.args)
      this.#counts.answered += 1
      const found = findFaults(response, form, this.#server)
      this.#faults.push(...found.map((fault) => `${way} ${call.app}.${call.name}: ${fault}`))
      const { status, text } = response
      if (status === 200 && !/"isError":true|"error":\{/.test(text)) return text
      // The response of the first call was lost after it had ended the session.
      if (isRetry && text.includes('the session has already ended')) return text
      const isLost = text.includes('WORKER_LOST')
      if (isLost) this.#counts.lostWorkers += 1
      if ((!isLost && !/OVERLOADED|DEADLINE_EXCEEDED|PROJECT_BUSY/.test(text)) || Date.now() > end) {
        this.#faults.push(`${way} ${call.app}.${call.name} failed: ${status} ${text.slice(0, 300)}`)
        return undefined
      }
      await wait(100)
    }
  }

  async #killProcesses(): Promise<void> {
    while (Date.now() < this.#until) {
      await wait(100 + this.#random.below(400))
      const children = findChildren(this.#server.pid)
      if (children.length === 0) continue
      endProcess(this.#random.pick(children))
      this.#counts.killed += 1
    }
  }

  async #attack(): Promise<void> {
    const seed = this.#random.below(2 ** 31)
    const victim = { url: this.#server.url, pid: this.#server.pid }
    await this.#thread(
      'attacker',
      { victim, seed, until: this.#until } satisfies AttackerData,
      (result: AttackResult) => {
        const { name, blockedMs = 0, error } = result
        if (error !== undefined) this.#faults.push(`the attack "${name}" got no response: ${error}`)
        this.#blockedMs.set(name, Math.max(Math.round(blockedMs), this.#blockedMs.get(name) ?? 0))
        this.#counts.attacks += 1
      },
    )
  }

  async #probeHealth(): Promise<void> {
    const data = { url: this.#server.url, until: this.#until } satisfies HealthProbeData
    await this.#thread('health-probe', data, ({ timesMs, faults }: HealthProbeResult) => {
      this.#healthMs = timesMs
      this.#faults.push(...faults)
    })
  }

  /** Runs a thread until it ends. */
  async #thread<Message>(name: string, data: object, receive: (message: Message) => void): Promise<void> {
    const thread = new Worker(new URL(`./${name}.ts`, import.meta.url), { workerData: data })
    thread.on('message', receive)
    await once(thread, 'exit')
  }

  /** Opens plots and recordings before the measurement. */
  async #warmUp(): Promise<void> {
    for (const filename of plots) await this.#tool('Debrief', 'open_plot', { filename })
    for (const { app, name, args } of [...reads, ...queries]) await this.#tool(app, name, args)
  }

  async #tool(app: string, tool: string, args: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await request(`${this.#server.url}/api/apps/${pathName(app)}/tools/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${tool} failed: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  /** Adds a fault for each accepted change that is missing or duplicated. */
  async #checkLedger(): Promise<void> {
    const minds = await this.#listAll('Minds', 'list_minds', { limit: 500 }, 'minds', (page) => {
      return page.next_after == null ? undefined : { after: page.next_after }
    })
    this.#compare(
      this.#minds,
      minds.map(({ mind_id }) => String(mind_id)),
      'mind',
    )
    const names: string[] = []
    for (const filename of plots) {
      const rows = await this.#listAll(
        'Debrief',
        'get_features',
        { filename, limit: 1000 },
        'features',
        (page) => {
          return page.next_cursor == null ? undefined : { cursor: page.next_cursor }
        },
      )
      names.push(...rows.map(({ name }) => String(name)))
    }
    this.#compare(this.#features, names, 'feature')
  }

  async #listAll(
    app: string,
    tool: string,
    args: object,
    member: string,
    next: (page: Readonly<Record<string, unknown>>) => object | undefined,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const rows: Record<string, unknown>[] = []
    for (let more: object | undefined = {}; more !== undefined; ) {
      const page: Readonly<Record<string, unknown>> = await this.#tool(app, tool, { ...args, ...more })
      rows.push(...(page[member] as Record<string, unknown>[]))
      more = next(page)
    }
    return rows
  }

  #compare(accepted: ReadonlySet<string>, found: readonly string[], kind: string): void {
    const counts = new Map<string, number>()
    for (const name of found) counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const name of accepted)
      if (counts.get(name) !== 1)
        this.#faults.push(`the ${kind} ${name} was accepted once and is there ${counts.get(name) ?? 0} times`)
  }
}

const reads: readonly Call[] = [
  { app: 'Replay', name: 'list_recordings', args: {} },
  { app: 'Minds', name: 'list_minds', args: { limit: 5 } },
  { app: 'Replay', name: 'get_frame', args: { recording: 'stack', frame_id: 10 } },
  { app: 'Causeway', name: 'list_apps', args: {} },
  { app: 'Debrief', name: 'get_features', args: { filename: 'sample.plot.json', limit: 3 } },
]

/** Queries, each of which runs in a process. */
const queries: readonly Call[] = [
  { app: 'Replay', name: 'query_sql', args: { recording: 'drop', sql: 'SELECT count(*) FROM v_state' } },
  {
    app: 'Replay',
    name: 'query_sql',
    args: { recording: 'stack', sql: 'SELECT max(speed), json_group_array(body_id) FROM v_state' },
  },
]

const run: Call = { app: 'Trm', name: 'start', args: { repo: 'sums', test: 'python3 -m unittest', wait: 5 } }

/** A duplicate would be an error. */
const createMind = (name: string): Call => ({
  app: 'Minds',
  name: 'create_mind',
  args: {
    mind_id: name,
    config: { entity_id: name, traits: ['calm'] },
    if_exists: 'error',
    request_id: name,
  },
})

/** A duplicate would create two features with this name. */
const addFeature = (filename: string, name: string): Call => ({
  app: 'Debrief',
  name: 'add_features',
  args: {
    filename,
    features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [-5, 36] }, properties: { name } }],
  },
})

/** `times` in milliseconds. */
function percentiles(times: readonly number[]) {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
