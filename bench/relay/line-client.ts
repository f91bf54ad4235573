import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** How to start a program that uses MCP on stdin and stdout. */
export interface Command {
  /** Path of the program, usually a Node. */
  readonly node: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A running program from its client's point of view. */
export interface LineClient {
  readonly pid: number
  /** Sends a request and returns the bytes of its response. Throws for an error, a failed call, or the program's exit. */
  ask(message: object): Promise<number>
  notify(message: object): void
  /** Stops reading until `resume`, like a busy client. */
  pause(): void
  resume(): void
  /** Closes stdin and returns the milliseconds until the program exits; undefined if it was killed after `timeoutMs`. */
  end(timeoutMs?: number): Promise<number | undefined>
  kill(): void
}

interface Waiting {
  resolve(bytes: number): void
  reject(error: Error): void
}

/** Number of bytes at each end of a line that are searched for the id, which precedes or follows the result. */
const edge = 300

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** Initializes the connection and reads the first tool list, as every client does first. */
export async function openSession(client: LineClient): Promise<void> {
  await client.ask(initialize)
  client.notify({ method: 'notifications/initialized' })
  await client.ask({ method: 'tools/list' })
}

/** Starts a program and exchanges lines with it. Parses only the ends of a response to keep its own overhead small. */
export function startLineClient({ node, args, env }: Command): LineClient {
  const child = spawn(node, args, { env: { ...process.env, ...env }, stdio: 'pipe' })
  const waiting = new Map<number, Waiting>()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(-1000)
  })
  child.stdin.on('error', () => {}) // `close` reports its end
  child.on('error', (error) => fail(waiting, error))
  child.on('close', () => fail(waiting, new Error(`the program exited: ${stderr.trim() || 'no output'}`)))
  child.stdout.on(
    'data',
    lineReader((line) => settle(waiting, line)),
  )
  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let lastId = 0
  return {
    pid: child.pid as number, // without a pid every `ask` fails
    ask(message) {
      lastId += 1
      const id = lastId
      send({ id, ...message })
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    notify: send,
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    end: (timeoutMs) => endProcess(child, timeoutMs),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Closes the stdin of a program and waits for its exit; kills it after `timeoutMs`. */
export async function endProcess(child: ChildProcess, timeoutMs = 5000): Promise<number | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) return undefined
  const before = performance.now()
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const gone = once(child, 'exit')
  child.stdin?.end()
  await gone
  clearTimeout(timer)
  return child.signalCode === 'SIGKILL' ? undefined : performance.now() - before
}

/** Splits a stream into lines. The chunks of a long line are joined once, at its end. */
export function lineReader(onLine: (line: Buffer) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end))
      onLine(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts))
      parts = []
      start = end + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  }
}

/** Returns the id of a response and the text of a failure. Returns undefined for any other message. */
export function readAnswer(line: Buffer): { id: number; failure: string | undefined } | undefined {
  const head = line.toString('latin1', 0, edge)
  const tail = line.toString('latin1', Math.max(0, line.length - edge))
  if (/"method":/.test(head)) return undefined
  const id = /^\{"jsonrpc":"2\.0","id":(\d+)/.exec(head)?.[1] ?? /"id":(\d+)[^{}[\]]*\}$/.exec(tail)?.[1]
  if (id === undefined) return undefined
  const isFailure = /"error":\{|"isError":true/.test(head) || /"isError":true/.test(tail)
  return { id: Number(id), failure: isFailure ? line.toString('utf8', 0, edge) : undefined }
}

function settle(waiting: Map<number, Waiting>, line: Buffer): void {
  const answer = readAnswer(line)
  const asker = answer && waiting.get(answer.id)
  if (answer === undefined || asker === undefined) return
  waiting.delete(answer.id)
  if (answer.failure === undefined) asker.resolve(line.length)
  else asker.reject(new Error(answer.failure))
}

function fail(waiting: Map<number, Waiting>, error: Error): void {
  for (const { reject } of waiting.values()) reject(error)
  waiting.clear()
}
