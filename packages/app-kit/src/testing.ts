import {
  type CallToolResult,
  CausewayError,
  type InputRequest,
  type PromptMessage,
  type ResourceContents,
} from '@causeway/protocol'
import { type Ask, type Input, isAsk } from './ask.ts'
import type { Env, Facts, Log, Roots, ToolContext } from './context.ts'
import type { App } from './define-app.ts'

/** Defaults: a discarded log, a clock at 0, no roots or other apps. */
interface TestOptions extends Partial<Pick<Env, 'roots' | 'settings' | 'now' | 'newId' | 'log' | 'call'>> {
  readonly dir: string
}

interface TestCall {
  readonly signal?: AbortSignal
  /** Answers the tool's questions. Default: the client does not support questions. */
  readonly reply?: (question: InputRequest, key: string) => unknown
  readonly holder?: string
}

export interface TestClient {
  call(tool: string, args?: unknown, options?: TestCall): Promise<Record<string, unknown>>
  answer(tool: string, args?: unknown, options?: TestCall): Promise<CallToolResult>
  read(uri: string): Promise<ResourceContents>
  prompt(name: string, args?: unknown, options?: TestCall): Promise<readonly PromptMessage[]>
  /** Progress of all calls: `[done, total, message]`. */
  readonly progress: readonly (readonly [number, number | undefined, string | undefined])[]
  /** Log messages of all calls: `[level, data]`. */
  readonly messages: readonly (readonly [string, unknown])[]
  readonly notes: readonly Facts[]
}

export interface TestApp {
  readonly store: unknown
  /** `shared`: the client has no session of its own. */
  client(options?: { shared?: boolean }): TestClient
  /** Received notifications: `tools`, `resources` or a URI. */
  readonly changes: readonly string[]
  close(): Promise<void>
}

const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
const noRoots: Roots = {
  folders: () => [],
  resolve: (path) => Promise.reject(new CausewayError('OUTSIDE_ROOTS', `no roots in this test: ${path}`)),
}
const noApps: Env['call'] = () =>
  Promise.reject(new CausewayError('UNKNOWN_TOOL', 'no other app in this test'))

export async function openForTest(app: App, options: TestOptions): Promise<TestApp> {
  const { now = () => 0, log = silentLog } = options
  const changes: string[] = []
  let idCount = 0
  let callCount = 0
  const newId = () => `id-${++idCount}`
  const changed = {
    tools: () => void changes.push('tools'),
    resources: () => void changes.push('resources'),
    resource: (uri: string) => void changes.push(uri),
  }
  const defaults = { settings: {}, newId, roots: noRoots, call: noApps }
  const store = await app.open({ ...defaults, ...options, log, now, changed })
  const newRequestId = (): string => `request-${++callCount}`
  return {
    store,
    changes,
    client: ({ shared = false } = {}) =>
      makeClient(app, { store, session: app.session(), sharedSession: shared, log, now, newRequestId }),
    close: () => app.close(store),
  }
}

type ClientState = Pick<ToolContext, 'store' | 'session' | 'sharedSession' | 'log' | 'now'> & {
  readonly newRequestId: () => string
}

function makeClient(app: App, { newRequestId, ...state }: ClientState): TestClient {
  const progress: [number, number | undefined, string | undefined][] = []
  const messages: [string, unknown][] = []
  const notes: Facts[] = []
  const createContext = (
    { signal = new AbortController().signal, reply, holder }: TestCall,
    input: Partial<Input>,
  ): ToolContext => ({
    ...state,
    signal,
    progress: (done, total, message) => progress.push([done, total, message]),
    notify: (level, data) => messages.push([level, data]),
    input: { replies: {}, kept: undefined, can: () => reply !== undefined, ...input },
    client: { name: 'test', version: '0' },
    clientKey: 'test',
    ...(holder === undefined ? {} : { holder }),
    note: (facts) => notes.push(facts),
    requestId: newRequestId(),
  })
  const converse = async <T>(options: TestCall, run: (ctx: ToolContext) => Promise<T | Ask>): Promise<T> => {
    let returned = await run(createContext(options, {}))
    while (isAsk(returned)) {
      const { questions, kept } = returned
      const { reply } = options
      if (reply === undefined)
        throw new CausewayError('CLIENT_CANNOT_ANSWER', 'the test gives no replies', { data: { questions } })
      const replies = Object.fromEntries(
        Object.entries(questions).map(([key, question]) => [key, reply(question, key)]),
      )
      returned = await run(
        createContext(options, { replies, kept: kept && JSON.parse(JSON.stringify(kept)) }),
      )
    }
    return returned
  }
  const answer: TestClient['answer'] = async (name, args = {}, options = {}) => {
    const tools = [...app.tools, ...(await app.discover(state.store))]
    const tool = tools.find((tool) => tool.name === name)
    if (tool === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}`)
    return converse(options, (ctx) => tool.call(args, ctx))
  }
  return {
    progress,
    messages,
    notes,
    answer,
    call: async (tool, args, options) =>
      (await answer(tool, args, options)).structuredContent as Record<string, unknown>,
    async read(uri) {
      for (const resource of app.resources) {
        const variables = resource.template.match(uri)
        if (variables !== undefined) return resource.read(uri, variables, createContext({}, {}))
      }
      throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`)
    },
    async prompt(name, args = {}, options = {}) {
      const prompt = app.prompts.find((prompt) => prompt.name === name)
      if (prompt === undefined) throw new CausewayError('UNKNOWN_PROMPT', `no such prompt: ${name}`)
      return converse(options, (ctx) => prompt.messages(args, ctx))
    },
  }
}
