/** The client of a bridge in a soak: sends mixed traffic and counts the responses. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LineSplitter } from '../../bridge/src/stdio/lines.ts'
import type { Random } from '../random.ts'

const bundle = fileURLToPath(new URL('../../bridge/dist/bridge.js', import.meta.url))
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

/** The kind of a response. */
export type Outcome = 'result' | 'error'

/** Memory and descriptors of a process. */
export interface ResourceUse {
  readonly memoryMb: number
  readonly descriptors: number
}

/** A bridge process and its requests. */
export class SoakClient {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #random: Random
  /** Params of its calls. */
  readonly #calls: readonly object[]
  readonly #lines = new LineSplitter()
  /** Requests without a response. Cancelled requests may get no response. */
  readonly #open = new Map<
    string,
    { readonly method: string; readonly params: object; isCancelled: boolean }
  >()
  readonly #answered = new Set<string>()
  readonly outcomes: Record<Outcome, number> = { result: 0, error: 0 }
  readonly codes = new Map<string, number>()
  readonly faults: string[] = []
  #sent = 0
  #stderr = ''

  constructor(
    url: string,
    random: Random,
    calls: readonly object[] = [{ name: 'Replay__list_recordings', arguments: {} }],
  ) {
    this.#random = random
    this.#calls = calls
    this.#process = spawn(process.execPath, [bundle], {
      env: { ...process.env, MCP_SERVER_URL: url, CAUSEWAY_WAIT_MS: '15000' },
      stdio: 'pipe',
    })
    this.#process.stdin.on('error', () => {})
    this.#process.stdout.on('data', (chunk: Buffer) => {
      for (const line of this.#lines.push(chunk)) this.#receive(line)
    })
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-500)
    })
  }

  /** Number of cancelled requests without a response. */
  get cancelled(): number {
    return [...this.#open.values()].filter(({ isCancelled }) => isCancelled).length
  }

  get sent(): number {
    return this.#sent
  }

  /** Sends the handshake and then random messages until `until`. */
  async run(until: number): Promise<void> {
    this.#request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'soak', version: '1' },
    })
    this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' })
    while (Date.now() < until && this.#isAlive()) {
      this.#act()
      await wait(20 + this.#random.below(250))
    }
    this.#process.stdout.resume()
  }

  /** Waits until every request that must get a response has one. */
  async settle(deadlineMs: number): Promise<void> {
    const isOpen = () => [...this.#open.values()].some(({ isCancelled }) => !isCancelled)
    for (const end = Date.now() + deadlineMs; isOpen() && Date.now() < end; ) await wait(50)
    for (const [id, { method, params, isCancelled }] of this.#open)
      if (!isCancelled)
        this.faults.push(`${method} ${id} got no response: ${JSON.stringify(params).slice(0, 200)}`)
  }

  readResourceUse(): ResourceUse | undefined {
    const proc = `/proc/${this.#process.pid}`
    if (!existsSync(proc)) return undefined
    const memory = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${proc}/status`, 'utf8'))
    return { memoryMb: Number(memory?.[1]) / 1024, descriptors: readdirSync(`${proc}/fd`).length }
  }

  /** Kills the bridge. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Closes stdin, as clients do. The bridge must exit. */
  async end(): Promise<void> {
    if (!this.#isAlive()) return void this.faults.push(`the bridge exited before its client: ${this.#stderr}`)
    const exited = once(this.#process, 'exit')
    const late = setTimeout(() => {
      this.faults.push('the bridge did not exit after stdin was closed')
      this.#process.kill('SIGKILL')
    }, 15_000)
    this.#process.stdin.end()
    const [code, signal] = await exited
    clearTimeout(late)
    if (code !== 0) this.faults.push(`the bridge exited with ${signal ?? code}: ${this.#stderr}`)
  }

  #isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  #act(): void {
    const { below } = this.#random
    const chance = below(100)
    if (chance < 25) this.#request('ping', {})
    else if (chance < 40) this.#request('tools/list', {})
    else if (chance < 55) this.#request('tools/list', modern)
    else if (chance < 70) this.#request('tools/call', this.#random.pick(this.#calls))
    else if (chance < 80) this.#request('tools/call', { name: 'no_such_tool', arguments: {}, ...modern })
    else if (chance < 84) for (let burst = below(20); burst >= 0; burst -= 1) this.#request('ping', {})
    else if (chance < 88) this.#cancel()
    else if (chance < 92) this.#process.stdin.write('{"jsonrpc":"2.0",\n\n42\n')
    else if (chance < 98) this.#readSlowly()
    // Over the body limit, so it is rejected; rare, because fifty bridges share the machine.
    else if (chance === 98 && below(10) === 0) this.#request('ping', { pad: 'x'.repeat(17_000_000) })
    else this.#request('resources/list', {})
  }

  #request(method: string, params: object): void {
    this.#sent += 1
    const id = `${this.#sent}`
    this.#open.set(id, { method, params, isCancelled: false })
    this.#write({ jsonrpc: '2.0', id, method, params })
  }

  #cancel(): void {
    const [id, call] = [...this.#open].at(-1) ?? []
    if (call === undefined || call.method === 'initialize') return
    call.isCancelled = true
    this.#write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  }

  #readSlowly(): void {
    this.#process.stdout.pause()
    setTimeout(() => this.#process.stdout.resume(), this.#random.below(2000)).unref()
  }

  #write(message: object): void {
    this.#process.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #receive(line: Buffer): void {
    const message = JSON.parse(line.toString('utf8')) as { id?: unknown; method?: string; error?: WireError }
    // Responses to invalid lines have no id. Requests and notifications of the server have a method.
    if (message.method !== undefined || message.id === null) return
    const id = String(message.id)
    if (this.#answered.has(id) || !this.#open.delete(id)) this.faults.push(`a second response to ${id}`)
    this.#answered.add(id)
    this.outcomes[message.error === undefined ? 'result' : 'error'] += 1
    const code = message.error && String(message.error.data?.code ?? message.error.code)
    if (code !== undefined) this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
  }
}

interface WireError {
  readonly code?: number
  readonly data?: { readonly code?: string }
}
