import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Wire } from './backend.ts'
import { Sightings } from './sightings.ts'

/** Arguments for Node.js that run the bridge from source. */
export const fromSource = [
  '--conditions=@causeway/source',
  fileURLToPath(new URL('../src/main.ts', import.meta.url)),
]

/** Options for starting the bridge. */
export interface Start {
  readonly url?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Path of Node, and its arguments. */
  readonly node?: string
  readonly run?: readonly string[]
  /** Time to wait for a message, in milliseconds; default: 30,000. */
  readonly timeoutMs?: number
}

/** The client of a bridge process. */
export class Client {
  /** Parsed lines of standard output. */
  readonly messages: Sightings<Wire>
  /** Lines of standard output. */
  readonly lines: string[] = []
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly process: ChildProcess
  stderr = ''

  constructor(process: ChildProcess, timeoutMs?: number) {
    this.process = process
    this.messages = new Sightings(timeoutMs)
    this.exited = once(process, 'close').then(([code, signal]) => ({ code, signal }))
    process.stdin?.on('error', () => {})
    process.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
    if (process.stdout !== null)
      createInterface({ input: process.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        this.lines.push(line)
        this.messages.push(parseJson(line))
      })
  }

  send(...messages: Wire[]): void {
    this.raw(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  }

  raw(text: string | Buffer): void {
    this.process.stdin?.write(text)
  }

  /** Resolves to the response with this id. */
  answer(id: unknown): Promise<Wire> {
    return this.messages.first(
      `the response ${JSON.stringify(id)}`,
      (message) => message.id === id && message.method === undefined,
    )
  }

  /** Resolves to the first server message with this method. */
  saw(method: string): Promise<Wire> {
    return this.messages.first(method, (message) => message.method === method)
  }

  /** Sends a request and resolves to its response. */
  call(id: string | number, method: string, params: Wire = {}): Promise<Wire> {
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.answer(id)
  }

  /** Performs the legacy handshake. Resolves to the response to `initialize`. */
  async open(): Promise<Wire> {
    const answer = await this.call('open', 'initialize', initializeParams)
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return answer
  }

  /** Closes the input of the bridge. */
  end(): void {
    this.process.stdin?.end()
  }
}

export const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

/** Params that make a request stateless. */
export const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

/** Starts a bridge that stops at the end of the test. */
export function startBridge(t: Test, start: Start): Client {
  const child = spawn(start.node ?? process.execPath, [...(start.run ?? fromSource), ...(start.args ?? [])], {
    env: cleanEnv({ ...(start.url !== undefined && { MCP_SERVER_URL: start.url }), ...start.env }),
    stdio: 'pipe',
  })
  const client = new Client(child, start.timeoutMs)
  t.teardown(async () => {
    // The bridge reports its coverage only if it exits by itself.
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    client.end()
    child.kill()
    await client.exited
    clearTimeout(timer)
  })
  return client
}

/** Returns the environment of this process without the main settings of the bridge. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { MCP_SERVER_URL: _url, DEBUG: _debug, CAUSEWAY_SESSION: _session, ...env } = process.env
  return { ...env, ...more }
}

function parseJson(line: string): Wire {
  try {
    return JSON.parse(line)
  } catch {
    return { notJson: line }
  }
}

/** Returns the first URL that a program prints on a line of its own. */
export const readPrintedUrl = ({ process }: Client): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    process.stdout?.on('data', (chunk) => {
      text += chunk
      const found = /^(http\S+)\n/m.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
