import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** How a program that speaks MCP on stdin and stdout is started. */
export interface Command {
  /** Path of the program, mostly a Node. */
  readonly node: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A running program as its client sees it. */
export interface LineClient {
  readonly pid: number
  /** Sends a request and gives the bytes of its answer; throws for an error, a failed call, and the program's end. */
  ask(message: object): Promise<number>
  notify(message: object): void
  /** Reads no answer until `resume`, like a client that is busy. */
  pause(): void
  resume(): void
  /** Ends stdin and gives the ms until the program is gone; undefined if it had to be killed after `patienceMs`. */
  end(patienceMs?: number): Promise<number | undefined>
  kill(): void
}

interface Waiting {
  resolve(bytes: number): void
  reject(error: Error): void
}

/** How much of either end of a line is looked at: an id stands before or behind its result. */
const edge = 300

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** Shakes hands and reads the first list of tools: what every client does before anything else. */
export async function openSession(client: LineClient): Promise<void> {
  await client.ask(initialize)
  client.notify({ method: 'notifications/initialized' })
  await client.ask({ method: 'tools/list' })
}

/** Starts a program and speaks with it in lines. Looks only at the edges of an answer, so that its own part stays small. */
export function startLineClient({ node, args, env }: Command): LineClient {
  const child = spawn(node, args, { env: { ...process.env, ...env }, stdio: 'pipe' })
  const waiting = new Map<number, Waiting>()
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-1000)
  })
  child.stdin.on('error', () => {}) // its end is told by `close`
  child.on('error', (error) => fail(waiting, error))
  child.on('close', () => fail(waiting, new Error(`it ended: ${said.trim() || 'without a word'}`)))
  child.stdout.on(
    'data',
    lineReader((line) => settle(waiting, line)),
  )
  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let lastId = 0
  return {
    pid: child.pid as number, // without one every `ask` fails
    ask(message) {
      lastId += 1
      const id = lastId
      send({ id, ...message })
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    notify: send,
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    end: (patienceMs) => endOf(child, patienceMs),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Ends the stdin of a program and waits until it is gone; kills it when that takes longer than `patienceMs`. */
export async function endOf(child: ChildProcess, patienceMs = 5000): Promise<number | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) return undefined
  const before = performance.now()
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  const gone = once(child, 'exit')
  child.stdin?.end()
  await gone
  clearTimeout(timer)
  return child.signalCode === 'SIGKILL' ? undefined : performance.now() - before
}

/** Cuts a stream into lines; the parts of a long one are joined once, at its end. */
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

/** What a line answers: the id, and the text of a failure. Undefined for everything else that a server sends. */
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
