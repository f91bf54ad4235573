/** Calling an app without a server: for tests of apps, ours and others'. */
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
import type { AppTool } from './tool.ts'

/** What a test may set; everything else has a quiet default. */
export interface TestOptions {
  /** A folder of the test's own. */
  readonly dir: string
  readonly roots?: Roots
  readonly settings?: Readonly<Record<string, unknown>>
  readonly now?: () => number
  readonly newId?: () => string
  readonly log?: Log
  readonly call?: Env['call']
}

/** How a test calls. */
export interface TestCall {
  readonly signal?: AbortSignal
  /** Replies to what the call asks; a client without it cannot be asked. */
  readonly reply?: (question: InputRequest, key: string) => unknown
  /** The name of the token that it shows. */
  readonly holder?: string
}

/** One client of an open app: its session lasts from call to call. */
export interface TestClient {
  /** The data of the answer; rejects with the tool's `CausewayError`. */
  call(tool: string, args?: unknown, options?: TestCall): Promise<Record<string, unknown>>
  /** The whole answer, pictures included. */
  answer(tool: string, args?: unknown, options?: TestCall): Promise<CallToolResult>
  read(uri: string): Promise<ResourceContents>
  prompt(name: string, args?: unknown, options?: TestCall): Promise<readonly PromptMessage[]>
  /** Progress of all calls so far, as `[done, total, message]`. */
  readonly progress: readonly (readonly [number, number | undefined, string | undefined])[]
  /** Messages to the client of all calls so far, as `[level, data]`. */
  readonly messages: readonly (readonly [string, unknown])[]
  /** What all calls so far noted for the audit. */
  readonly notes: readonly Facts[]
}

/** An app that is open, with as many clients as a test wants. */
export interface TestApp {
  readonly store: unknown
  client(options?: { shared?: boolean }): TestClient
  /** What the app announced: `tools`, `resources` or a URI. */
  readonly changes: readonly string[]
  close(): Promise<void>
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }
const noRoots: Roots = {
  folders: () => [],
  resolve: (path) => Promise.reject(new CausewayError('OUTSIDE_ROOTS', `no roots in this test: ${path}`)),
}

/** Opens an app for a test. */
export async function openForTest(app: App, options: TestOptions): Promise<TestApp> {
  const { dir, roots = noRoots, settings = {}, now = () => 0, log = quiet } = options
  const changes: string[] = []
  let ids = 0
  let calls = 0
  const newRequest = (): string => `request-${++calls}`
  const env: Env = {
    dir,
    settings,
    log,
    now,
    newId: options.newId ?? (() => `id-${++ids}`),
    roots,
    changed: {
      tools: () => changes.push('tools'),
      resources: () => changes.push('resources'),
      resource: (uri) => changes.push(uri),
    },
    call:
      options.call ?? (() => Promise.reject(new CausewayError('UNKNOWN_TOOL', 'no other app in this test'))),
  }
  const store = await app.open(env)
  return {
    store,
    changes,
    client: ({ shared = false } = {}) =>
      testClient(app, { store, session: app.session(), shared, log, now, newRequest }),
    close: () => app.close(store),
  }
}

interface ClientState {
  readonly store: unknown
  readonly session: unknown
  readonly shared: boolean
  readonly log: Log
  readonly now: () => number
  /** an id of its own for every call, whichever client makes it */
  readonly newRequest: () => string
}

function testClient(app: App, { store, session, shared, log, now, newRequest }: ClientState): TestClient {
  const progress: [number, number | undefined, string | undefined][] = []
  const messages: [string, unknown][] = []
  const notes: Facts[] = []
  const context = (
    { signal = new AbortController().signal, reply, holder }: TestCall,
    input: Partial<Input>,
  ): ToolContext => ({
    store,
    session,
    sharedSession: shared,
    signal,
    progress: (done, total, message) => progress.push([done, total, message]),
    notify: (level, data) => messages.push([level, data]),
    input: { replies: {}, kept: undefined, can: () => reply !== undefined, ...input },
    log,
    now,
    client: { name: 'test', version: '0' },
    clientKey: 'test',
    ...(holder === undefined ? {} : { holder }),
    note: (facts) => notes.push(facts),
    requestId: newRequest(),
  })
  const find = async (name: string): Promise<AppTool> => {
    const tool = [...app.tools, ...(await app.discover(store))].find((known) => known.name === name)
    if (tool === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}`)
    return tool
  }
  /** Runs again with replies for as long as there are questions. */
  const converse = async <T>(options: TestCall, run: (ctx: ToolContext) => Promise<T | Ask>): Promise<T> => {
    let given = await run(context(options, {}))
    while (isAsk(given)) {
      const { questions, kept } = given
      const { reply } = options
      if (reply === undefined)
        throw new CausewayError('CLIENT_CANNOT_ANSWER', 'the test gives no replies', { data: { questions } })
      const replies = Object.fromEntries(
        Object.entries(questions).map(([key, question]) => [key, reply(question, key)]),
      )
      given = await run(context(options, { replies, kept: kept && JSON.parse(JSON.stringify(kept)) }))
    }
    return given
  }
  const answer: TestClient['answer'] = async (tool, args = {}, options = {}) => {
    const found = await find(tool)
    return converse(options, (ctx) => found.call(args, ctx))
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
        if (variables !== undefined) return resource.read(uri, variables, context({}, {}))
      }
      throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`)
    },
    async prompt(name, args = {}, options = {}) {
      const prompt = app.prompts.find((known) => known.name === name)
      if (prompt === undefined) throw new CausewayError('UNKNOWN_PROMPT', `no such prompt: ${name}`)
      return converse(options, (ctx) => prompt.messages(args, ctx))
    },
  }
}
