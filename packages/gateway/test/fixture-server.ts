/**
 * An MCP server over stdio that does not use a library, so that it can misbehave. Flags: `--banner`, `--stubborn` (ignores
 * SIGTERM and the end of stdin), `--late` (answers cancelled calls), `--describe=TEXT` (description of `echo`),
 * `--crash-on=N` (exits during call N), `--log=FILE` (records start, cancellations, subscriptions, levels and pings),
 * `--exit` (exits immediately), `--no-ping` (ignores pings), `--noisy` (with every `echo`, writes lines that are not
 * messages, list changes and a second answer), `--prefix` (writes text before each answer of `echo`), `--modern` (supports
 * only MCP 2026-07-28), `--modern-if=FILE` (the same if the file exists), `--malformed` (lists members of wrong types, but
 * not templates).
 */
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Message {
  readonly id?: number | string
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: each method reads its own members
  readonly params?: any
  readonly result?: unknown
  readonly error?: unknown
}

const flags = new Map(process.argv.slice(2).map((flag) => flag.split('=') as [string, string | undefined]))

const isModern = flags.has('--modern') || existsSync(flags.get('--modern-if') ?? '')

const record = (line: string): void => {
  const file = flags.get('--log')
  if (file !== undefined) appendFileSync(file, `${line}\n`)
}

const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

const objectSchema = (properties: object = {}) => ({ type: 'object', properties })
const string = { type: 'string' }
const integer = { type: 'integer' }
const touchSchema = { ...objectSchema({ uri: string }), required: ['uri'] }

const tools = [
  {
    name: 'echo',
    description: flags.get('--describe') ?? 'Returns the text.',
    inputSchema: objectSchema({ text: string }),
    annotations: { readOnlyHint: true },
  },
  { name: 'get-env', description: 'Returns the environment.', inputSchema: objectSchema() },
  { name: 'count.calls', description: 'Counts calls of this process.', inputSchema: objectSchema() },
  {
    name: 'wait',
    description: 'Reports progress, and waits for release.',
    inputSchema: objectSchema({ steps: integer, text: string }),
  },
  { name: 'release', description: 'Ends all waits.', inputSchema: objectSchema() },
  { name: 'ask', description: 'Asks the client.', inputSchema: objectSchema({ question: string }) },
  { name: 'crash', description: 'Ends the process.', inputSchema: objectSchema() },
  { name: 'grandchild', description: 'Starts a process.', inputSchema: objectSchema() },
  { name: 'mute', description: 'Closes stdout.', inputSchema: objectSchema() },
  { name: 'batch', description: 'Answers with a batch.', inputSchema: objectSchema() },
  { name: 'huge', description: 'Sends a line without an end.', inputSchema: objectSchema() },
  { name: 'fail', description: 'Answers with a JSON-RPC error.', inputSchema: objectSchema({ error: {} }) },
  { name: 'touch', description: 'Changes a resource.', inputSchema: touchSchema },
  { name: 'log', description: 'Logs at two levels.', inputSchema: objectSchema({ text: string }) },
  {
    name: 'research',
    description: 'Runs only as a task.',
    inputSchema: objectSchema({ text: string }),
    execution: { taskSupport: 'required' },
  },
  { name: 'broken', description: 'Has an invalid schema.', inputSchema: { type: 'array' } },
]

/** Each of these tools makes SDK clients reject the whole list. */
const malformedTools = [
  {
    name: 'nulls',
    title: null,
    inputSchema: { ...objectSchema(), required: null },
    outputSchema: null,
    annotations: null,
    icons: null,
    _meta: null,
  },
  {
    name: 'types',
    title: 5,
    description: 6,
    inputSchema: objectSchema({ any: true, none: false }),
    annotations: { title: 7, readOnlyHint: 'yes', destructiveHint: false },
    icons: [{ src: 8 }],
    _meta: 'text',
  },
  {
    name: 'reference',
    inputSchema: objectSchema(),
    outputSchema: objectSchema({ a: { $ref: '#/$defs/b' } }),
  },
  { name: 'pattern', inputSchema: objectSchema(), outputSchema: objectSchema({ a: { pattern: '(' } }) },
  { name: 'twice', description: 'One.', inputSchema: objectSchema() },
  { name: 'twice', description: 'Two.', inputSchema: objectSchema() },
]
const malformedPrompts = [
  { name: 'nulls', title: null, description: null, arguments: null },
  { name: 'types', description: 5, arguments: [{ name: 6 }, { name: 'who', required: 'yes' }, null] },
]
const malformedResources = [
  { uri: 'note:///nulls', name: 'nulls', title: null, mimeType: null, size: null, annotations: null },
  {
    uri: 'note:///types',
    name: 'types',
    description: 5,
    size: '6',
    annotations: { priority: 7, audience: 'user', lastModified: 'today' },
  },
]
const isMalformed = flags.has('--malformed')

const waiting = new Map<number | string, () => void>()
const asked = new Map<number | string, (answer: unknown) => void>()
let calls = 0
let questions = 0
let logLevel = 'info'

const text = (value: string, more: object = {}) => ({ content: [{ type: 'text', text: value }], ...more })

/** Contains the JSON-RPC error of a response. */
class FixtureError extends Error {
  readonly error: object

  constructor(error: object) {
    super('fixture error')
    this.error = error
  }
}

/** Returns a result, or `undefined` if the call is answered later or never. */
function call(id: number | string, params: Message['params']) {
  const { name, arguments: args = {}, _meta = {} } = params
  calls += 1
  if (flags.get('--crash-on') === String(calls)) process.exit(7)
  if (name === 'echo' && flags.has('--noisy')) makeNoise(id, text(args.text))
  if (name === 'echo' && flags.has('--prefix'))
    process.stdout.write(
      `received ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n{"a": loading, `,
    )
  if (name === 'echo' && args.result !== undefined) return args.result
  if (name === 'echo') return text(args.text, { 'x-fixture': true })
  if (name === 'get-env') return text(JSON.stringify({ env: process.env, cwd: process.cwd() }))
  if (name === 'count.calls') return text(`${process.pid} ${calls}`)
  if (name === 'ask') return isModern ? askModern(params) : void ask(id, args.question)
  if (name === 'touch') return touch(args.uri)
  if (name === 'log') return log(args.text)
  if (name === 'research') return createTask(params)
  if (name === 'release') {
    for (const release of waiting.values()) release()
    return text('released')
  }
  if (name === 'wait') return void wait(id, args, _meta.progressToken)
  if (name === 'grandchild') {
    const child = spawn(
      process.execPath,
      ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'],
      {
        stdio: 'ignore',
      },
    )
    return text(String(child.pid))
  }
  if (name === 'crash') {
    process.stderr.write('the fixture crashes\n', () => process.exit(3))
    return undefined
  }
  if (name === 'huge') return void huge()
  if (name === 'mute') return void closeSync(1)
  if (name === 'batch') {
    const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'first' } }
    const batch = JSON.stringify([log, { jsonrpc: '2.0', id, result: text('second') }])
    return void process.stdout.write(`${batch}\n`)
  }
  throw new FixtureError(args.error ?? { code: -32099, message: 'fixture error', data: { fixture: true } })
}

function makeNoise(id: number | string, result: object): void {
  for (const line of ['\ufeffdebug', '[]', 'null', '42', '{}', '{"jsonrpc": "2.0", "id":', '\0\u{1b}[31m'])
    process.stdout.write(`${line}\n`)
  for (let index = 0; index < 1000; index++) write({ method: 'notifications/tools/list_changed' })
  // The regular answer follows, so the client receives two answers with this id.
  for (const one of [id, null, 'unknown', 1e9]) write({ id: one, result })
}

function wait(id: number | string, { steps = 0, text: value = 'waited' }, progressToken: unknown): void {
  for (let progress = 1; progress <= steps; progress++)
    write({
      method: 'notifications/progress',
      params: { progressToken, progress, total: steps, message: value },
    })
  waiting.set(id, () => {
    waiting.delete(id)
    write({ id, result: text(value) })
  })
  record(`waiting ${value}`)
}

/** Returns a result that requests input, as in MCP 2026-07-28. */
function askModern({ arguments: { question }, inputResponses, requestState }: Message['params']): object {
  if (requestState !== undefined) return text(`${question} ${JSON.stringify(inputResponses.q)}`)
  const requestedSchema = { type: 'object', properties: { answer: string } }
  const params = { mode: 'form', message: question, requestedSchema }
  return {
    resultType: 'input_required',
    inputRequests: { q: { method: 'elicitation/create', params } },
    requestState: 'state of the fixture',
  }
}

function touch(uri: string): object {
  write({ method: 'notifications/resources/updated', params: { uri } })
  return text('touched')
}

function log(value: string): object {
  for (const level of logLevel === 'debug' ? ['debug', 'error'] : ['error'])
    write({ method: 'notifications/message', params: { level, data: value } })
  return text('logged')
}

/** Returns a task that ends when `release` is called. */
function createTask({ arguments: args, task }: Message['params']): object {
  if (task === undefined) throw new Error('the tool only runs as a task')
  return { task: { taskId: `task ${args.text}`, status: 'working', pollInterval: 1 } }
}

const ask = (id: number | string, question: string): Promise<void> =>
  askFor(id, question, (answer) => text(`${question} ${answer}`))

async function askFor(
  id: number | string,
  question: string,
  toResult: (answer: string) => object,
): Promise<void> {
  questions += 1
  const key = `q${questions}`
  const answer = await new Promise((resolve) => {
    asked.set(key, resolve)
    const requestedSchema = { type: 'object', properties: { answer: string } }
    write({ id: key, method: 'elicitation/create', params: { message: question, requestedSchema } })
  })
  write({ id, result: toResult(JSON.stringify(answer)) })
}

/** Returns the value of `malformed:` and JSON, so that a test determines an answer. */
const parseMalformed = (text: string): unknown =>
  text.startsWith('malformed:') ? JSON.parse(decodeURIComponent(text.slice('malformed:'.length))) : undefined

function huge(): void {
  const block = 'x'.repeat(1024 ** 2)
  const more = (): void => {
    if (process.stdout.write(block)) setImmediate(more)
    else process.stdout.once('drain', more)
  }
  more()
}

function initialize({ capabilities }: Message['params']): object {
  record(`capabilities ${JSON.stringify(capabilities)}`)
  return {
    protocolVersion: '2025-11-25',
    capabilities: {
      tools: { listChanged: true },
      prompts: {},
      resources: { subscribe: true },
      logging: {},
      completions: {},
    },
    serverInfo: { name: 'fixture', version: '1' },
    instructions: 'Use the fixture for tests.',
  }
}

/** Returns a result that offers only MCP 2026-07-28. */
const discover = (): object => ({
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, resources: { subscribe: true } },
  serverInfo: { name: 'modern fixture', version: '1' },
})

const methods: Readonly<Record<string, (params: Message['params'], id: number | string) => unknown>> = {
  initialize,
  ping: () => {
    record('ping')
    return flags.has('--no-ping') ? undefined : {}
  },
  'tasks/get': ({ taskId }) => ({ taskId, status: 'working', statusMessage: `working on ${taskId}` }),
  'tasks/cancel': ({ taskId }) => {
    record(`cancelled ${taskId}`)
    return {}
  },
  'tasks/result': ({ taskId }, id) => {
    record(`waiting ${taskId}`)
    waiting.set(id, () => write({ id, result: text(`result of ${taskId}`) }))
  },
  'resources/subscribe': ({ uri }) => {
    record(`subscribed ${uri}`)
    return {}
  },
  'resources/unsubscribe': ({ uri }) => {
    record(`unsubscribed ${uri}`)
    return {}
  },
  'subscriptions/listen': ({ notifications }) => {
    record(`listening ${JSON.stringify(notifications)}`)
  },
  'tools/list': () => {
    record('listed')
    return { tools: isMalformed ? [...malformedTools, ...Array(200_000).fill({})] : tools }
  },
  'prompts/list': () => ({
    prompts: isMalformed
      ? malformedPrompts
      : [{ name: 'greet', arguments: [{ name: 'who', required: true }] }],
  }),
  'prompts/get': ({ arguments: { who } }) => ({
    messages: parseMalformed(who) ?? [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
  }),
  'resources/list': () => ({
    resources: isMalformed ? malformedResources : [{ uri: 'note:///a', name: 'a', mimeType: 'text/plain' }],
  }),
  'resources/templates/list': () => {
    if (isMalformed) throw new Error('the templates cannot be listed')
    return { resourceTemplates: [{ uriTemplate: 'note:///{name}', name: 'notes' }] }
  },
  'resources/read': ({ uri }, id) => {
    if (uri === 'note:///ask') void askFor(id, uri, (answer) => ({ contents: [{ uri, text: answer }] }))
    else
      return {
        contents: parseMalformed(uri.slice('note:///'.length)) ?? [
          { uri, mimeType: 'text/plain', text: `content of ${uri}` },
        ],
      }
  },
  'completion/complete': ({ argument }) => ({ completion: { values: [`${argument.value}da`], total: 1 } }),
  'logging/setLevel': ({ level }) => {
    record(`level ${level}`)
    logLevel = level
    return {}
  },
  'tools/call': (params, id) => call(id, params),
}

function findHandler(method: string) {
  if (method === 'server/discover') return isModern ? discover : undefined
  return isModern && method === 'initialize' ? undefined : methods[method]
}

function receive({ id, method, params = {}, result, error }: Message): void {
  if (method === undefined) {
    const answer = asked.get(id as string)
    asked.delete(id as string)
    answer?.(result ?? error)
    return
  }
  if (method === 'notifications/cancelled') cancel(params.requestId)
  if (id === undefined) return
  const handler = findHandler(method)
  if (handler === undefined) {
    write({ id, error: { code: -32601, message: 'no such method' } })
    return
  }
  try {
    const answer = handler(params, id)
    if (answer !== undefined) write({ id, result: answer })
  } catch (error) {
    const unexpected = { code: -32603, message: (error as Error).message }
    write({ id, error: error instanceof FixtureError ? error.error : unexpected })
  }
}

function cancel(id: number | string): void {
  record(`cancelled ${id}`)
  const release = waiting.get(id)
  if (flags.has('--late')) release?.()
  waiting.delete(id)
}

if (flags.has('--exit')) {
  process.stderr.write('the fixture does not start\n')
  process.exitCode = 9
} else {
  record(`started ${process.pid}`)
  if (flags.has('--banner')) process.stdout.write('Welcome to the fixture!\n{"not": "a message"}\n')
  if (flags.has('--stubborn')) {
    process.on('SIGTERM', () => record('SIGTERM'))
    setInterval(() => {}, 1000)
  }
  createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)))
}
