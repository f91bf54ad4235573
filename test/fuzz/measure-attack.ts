/** Sends an attack to a running server and measures its cost from outside. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { meta, modernVersion } from '@causeway/protocol'
import { WebSocket } from 'ws'
import type { Attack, Preparation, Target, Transport } from './attack.ts'

/** The attacked server. */
export interface Victim {
  /** `http://127.0.0.1:3100` */
  readonly url: string
  readonly pid: number
}

/** The cost of an attack. */
export interface Cost {
  /** Bytes of the request's body. */
  readonly sentBytes: number
  readonly status: number
  readonly answerBytes: number
  readonly totalMs: number
  /** Longest time that another client waited for `/health`. */
  readonly blockedMs: number
  /** Processor time of the main thread, in steps of 10 ms; `undefined` if the system has no /proc. */
  readonly mainMs: number | undefined
  /** Processor time of all other threads, workers and V8's own. */
  readonly otherMs: number | undefined
  /** Peak growth of the resident memory, sampled; `undefined` if the system has no /proc. */
  readonly memoryBytes: number | undefined
}

interface Answer {
  readonly status: number
  readonly bytes: number
  readonly headers: IncomingMessage['headers']
  /** The beginning of the body. */
  readonly text: string
}

interface Sending {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** Stops reading when the received text contains this string. */
  readonly until?: string
}

/** Milliseconds between two requests to `/health`. Each takes about a millisecond of the main thread, which is included in the cost. */
const probeIntervalMs = 20
const keptCharacters = 4096
const deadlineMs = 120_000

const json = { 'content-type': 'application/json' }
const streams = { ...json, accept: 'application/json, text/event-stream' }
const clientInfo = { name: 'attack', version: '1' }

/** Runs the preparations, then sends the attack once while `/health` is probed. */
export async function measureAttack(victim: Victim, attack: Attack, bytes: number): Promise<Cost> {
  const agent = new Agent({ keepAlive: true })
  try {
    const kept = new Map<string, string>()
    for (const one of attack.before ?? []) await prepare(victim, agent, one, kept)
    const text = fill(attack.make(bytes), kept)
    const attempt = await prepareSend(victim, agent, attack.target, text)
    const probe = new HealthProbe(victim)
    const before = processorTimes(victim.pid)
    await probe.start()
    const begun = performance.now()
    const { status, bytes: answerBytes } = await attempt()
    const totalMs = performance.now() - begun
    const { blockedMs, memoryBytes } = await probe.stop()
    const after = processorTimes(victim.pid)
    return {
      sentBytes: Buffer.byteLength(text),
      status,
      answerBytes,
      totalMs,
      blockedMs,
      mainMs: before && after && after.mainMs - before.mainMs,
      otherMs: before && after && after.otherMs - before.otherMs,
      memoryBytes,
    }
  } finally {
    agent.destroy()
  }
}

async function prepare(
  { url }: Victim,
  agent: Agent,
  { tool, args, keep }: Preparation,
  kept: Map<string, string>,
): Promise<void> {
  const body = fill(rpc('tools/call', JSON.stringify({ name: tool, arguments: args })), kept)
  const { status, text } = await send(url, agent, { path: '/mcp', headers: json, body })
  if (status !== 200 || text.includes('"isError":true')) throw new Error(`${tool} failed: ${text}`)
  if (keep === undefined) return
  const value = new RegExp(`"${keep}":"([^"]+)"`).exec(text)?.[1]
  if (value === undefined) throw new Error(`${tool} returned no ${keep}: ${text}`)
  kept.set(keep, value)
}

/** Replaces `$<member>` by the value that an earlier response had. */
function fill(text: string, kept: ReadonlyMap<string, string>): string {
  let filled = text
  for (const [member, value] of kept) filled = filled.replace(`$${member}`, value)
  return filled
}

/** Prepares the transport and returns a function that sends the attack. */
async function prepareSend(
  victim: Victim,
  agent: Agent,
  target: Target,
  text: string,
): Promise<() => Promise<Answer>> {
  const { url } = victim
  if ('socket' in target) return prepareSocket(url, target.socket, text)
  if ('post' in target) {
    const headers = { ...json, ...(target.type && { 'content-type': target.type }), ...target.headers }
    return () => send(url, agent, { path: target.post, headers, body: text })
  }
  if ('tool' in target && target.over === 'rest') {
    const [app = '', tool = ''] = target.tool.split('__')
    const path = `/api/apps/${app.toLowerCase()}/tools/${tool}`
    return () => send(url, agent, { path, headers: json, body: text })
  }
  const method = 'tool' in target ? 'tools/call' : target.method
  const params = 'tool' in target ? `{"name":"${target.tool}","arguments":${text}}` : text
  return prepareMessage(victim, agent, { method, params, over: (target.over ?? 'json') as Transport })
}

async function prepareMessage(
  { url }: Victim,
  agent: Agent,
  { method, params, over }: { readonly method: string; readonly params: string; readonly over: Transport },
): Promise<() => Promise<Answer>> {
  const body = rpc(method, params)
  if (over === 'json') return () => send(url, agent, { path: '/mcp', headers: json, body })
  if (over === 'session') {
    const handshake = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const { headers } = await send(url, agent, {
      path: '/mcp',
      headers: streams,
      body: rpc('initialize', JSON.stringify(handshake)),
    })
    const session = { ...streams, 'mcp-session-id': String(headers['mcp-session-id']) }
    return () => send(url, agent, { path: '/mcp', headers: session, body })
  }
  if (over === 'stateless') {
    const headers = {
      ...streams,
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      ...(method === 'tools/call' ? { 'mcp-name': /"name":"(\w+)/.exec(params)?.[1] ?? '' } : {}),
    }
    // The stream of subscriptions stays open after its first event.
    const until = method === 'subscriptions/listen' ? { until: '\n\n' } : {}
    return () =>
      send(url, agent, { path: '/mcp', headers, body: rpc(method, withEnvelope(params)), ...until })
  }
  const stream = request(`${url}/sse`, { headers: { accept: 'text/event-stream' } }).end()
  const [answer] = (await once(stream, 'response')) as [IncomingMessage]
  const [opening] = (await once(answer, 'data')) as [Buffer]
  const path = /^data: (\S+)$/m.exec(opening.toString())?.[1] ?? ''
  return async () => {
    const answered = read(answer, '\n\n')
    // Ends with an error if the message was rejected and the stream is closed below.
    answered.catch(() => {})
    const posted = await send(url, agent, { path, headers: json, body })
    const received = posted.status === 202 ? await answered : posted
    stream.destroy()
    return received
  }
}

/** Adds the `_meta` members of a stateless message to params that may already have a `_meta`. */
function withEnvelope(params: string): string {
  const envelope = JSON.stringify({
    [meta.protocolVersion]: modernVersion,
    [meta.clientInfo]: clientInfo,
    [meta.clientCapabilities]: {},
  })
  const own = '"_meta":{'
  return params.includes(own)
    ? params.replace(own, `${own}${envelope.slice(1, -1)},`)
    : params.replace('{', `{"_meta":${envelope},`)
}

const rpc = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`

async function prepareSocket(url: string, path: string, text: string): Promise<() => Promise<Answer>> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
  const greeting = once(socket, 'message')
  await once(socket, 'open')
  await greeting
  return async () => {
    socket.send(text)
    const closed = once(socket, 'close').then(() => [Buffer.alloc(0)])
    const [data] = (await Promise.race([once(socket, 'message'), closed])) as [Buffer]
    socket.terminate()
    return { status: 200, bytes: data.length, headers: {}, text: '' }
  }
}

async function send(url: string, agent: Agent, { path, headers, body, until }: Sending): Promise<Answer> {
  const sent = request(`${url}${path}`, { method: 'POST', agent, headers: { ...headers } })
  sent.setTimeout(deadlineMs, () => sent.destroy(new Error(`no response within ${deadlineMs} ms`)))
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return read(answer, until)
}

/** Reads a response to its end or until the text contains `until`. Returns only the beginning of the text. */
async function read(answer: IncomingMessage, until?: string): Promise<Answer> {
  let bytes = 0
  let text = ''
  await new Promise<void>((resolve, reject) => {
    answer.on('error', reject).on('end', resolve)
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (text.length < keptCharacters) text += chunk.toString('latin1')
      if (until !== undefined && chunk.includes(until)) resolve()
    })
  })
  return { status: answer.statusCode ?? 0, bytes, headers: answer.headers, text }
}

/** Requests `/health` continuously over a separate connection, and samples the memory of the process. */
class HealthProbe {
  readonly #victim: Victim
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #memoryBefore: number | undefined
  #memory: number
  #blockedMs = 0
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(victim: Victim) {
    this.#victim = victim
    this.#memoryBefore = residentBytes(victim.pid)
    this.#memory = this.#memoryBefore ?? 0
  }

  /** Resolves after the first response, when the connection is open. */
  async start(): Promise<void> {
    await this.#ask()
    this.#running = this.#run()
  }

  /** Resolves after the last response. */
  async stop(): Promise<Pick<Cost, 'blockedMs' | 'memoryBytes'>> {
    this.#stopped = true
    await this.#running
    this.#agent.destroy()
    const before = this.#memoryBefore
    return {
      blockedMs: this.#blockedMs,
      memoryBytes: before === undefined ? undefined : this.#memory - before,
    }
  }

  async #run(): Promise<void> {
    const sampling = setInterval(() => this.#sample(), probeIntervalMs)
    while (!this.#stopped) {
      const begun = performance.now()
      await this.#ask()
      this.#blockedMs = Math.max(this.#blockedMs, performance.now() - begun)
      await new Promise((resolve) => setTimeout(resolve, probeIntervalMs))
    }
    this.#sample()
    clearInterval(sampling)
  }

  async #ask(): Promise<void> {
    const sent = request(`${this.#victim.url}/health`, { agent: this.#agent }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await read(answer)
  }

  #sample(): void {
    this.#memory = Math.max(this.#memory, residentBytes(this.#victim.pid) ?? 0)
  }
}

/** User and system time of the main thread of a process, and of all other threads. */
function processorTimes(pid: number): { mainMs: number; otherMs: number } | undefined {
  const mainMs = readTimes(`/proc/${pid}/task/${pid}/stat`)
  const allMs = readTimes(`/proc/${pid}/stat`)
  return mainMs === undefined || allMs === undefined ? undefined : { mainMs, otherMs: allMs - mainMs }
}

function readTimes(file: string): number | undefined {
  // The thread name can contain spaces. Times are in ticks of 10 ms.
  const fields = readProc(file)
    ?.replace(/^.*\) /s, '')
    .split(' ')
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10
}

function residentBytes(pid: number): number | undefined {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
