import {
  appNamePattern,
  CausewayError,
  type ErrorDefinition,
  type ErrorObject,
  wireName,
} from '@causeway/protocol'
import type { ChannelContext, Env } from './context.ts'
import { type AppPrompt, makePrompt, type PromptDeclaration, type PromptShape } from './prompt.ts'
import { type AppResource, makeResource, type ResourceDeclaration } from './resource.ts'
import type { AppRoute, AppSocket, RouteDeclaration, RouteMethod, SocketDeclaration } from './route.ts'
import type { Shape } from './schema.ts'
import { type AppTool, makeTool, type ToolDeclaration } from './tool.ts'

/** Files of an app in the data folder. */
export interface DataPart {
  /** A file, a folder (`snapshots/`) or a pattern (`recordings/*.db`) below the data folder. */
  readonly path: string
  /** `database`: copied by SQLite. `files`: copied, and replaced only by rename. `passing`: not backed up. */
  readonly kind: 'database' | 'files' | 'passing'
  readonly schema?: readonly string[]
  /** Columns (`table.column`) with absolute paths. A restore updates paths in a moved data folder. */
  readonly paths?: readonly string[]
  /** SQL that removes secrets from a backup. */
  readonly withoutSecrets?: string
  /** SQL that runs once in a restored database. */
  readonly restored?: string
}

export interface Cache {
  /** `[a-z_]+`, unique in the app. */
  readonly name: string
  /** Time to compute an entry again. Cheap caches shrink first. */
  readonly costMs: number
  /** Whether entries are in the main thread's heap. */
  readonly isInHeap: boolean
  readonly maxBytes: number
  bytes(): number | Promise<number>
  /** Evicts about this many bytes, least recently used entries first. Returns the evicted bytes. */
  shrink(bytes: number): number | Promise<number>
}

/** A finished call. If it failed, its arguments may be invalid. */
export interface ViewedCall {
  readonly args: Readonly<Record<string, unknown>>
  /** Empty if the call failed. */
  readonly data: Readonly<Record<string, unknown>>
}

interface AppIdentity<Store, Session> {
  /** Prefix of all wire names: `^[A-Z][A-Za-z0-9]*$`. */
  readonly name: string
  readonly about: string
  /** For models: which tools to call in which order. Default: `about`. */
  readonly instructions?: string
  /** Classes of `defineErrors` that the app and its libraries throw. */
  readonly errors?: readonly { readonly definitions: ErrorDefinitions }[]
  /** Setting with folders that the app may read in addition to `CAUSEWAY_ROOTS`. */
  readonly rootsSetting?: string
  /** Name in `/health` on the app's own port. Default: the name in lower case. */
  readonly service?: string
  /** In backup order: files before the database that refers to them. */
  readonly data?: readonly DataPart[]
  /** Returns a replacement for a failed call's text and, if the output schema accepts it, `structuredContent`. */
  errorBody?(error: ErrorObject): Readonly<Record<string, unknown>>
  /** Returns a replacement for the error of a missing resource, for HTTP+SSE clients (2024-11-05). */
  missingBody?(error: CausewayError): Readonly<Record<string, unknown>>
  /** Opens the store that all clients share. */
  open(env: Env): Store | Promise<Store>
  /** Returns a client's initial state, plain JSON. */
  session(): Session
  close?(store: Store): void | Promise<void>
  /** Returns tools that are known only at run time. Called every few minutes and after `changed.tools()`. */
  discover?(store: Store): Promise<readonly AppTool[]>
  caches?(store: Store): readonly Cache[]
  /** Returns the console page of a call, such as `/replay/drop#frame=45`. Must not throw. */
  view?(call: ViewedCall): string | undefined
  health?(store: Store): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
}

export interface Registrar<Store, Session> {
  tool<Input extends Shape, Output extends Shape>(
    name: string,
    declaration: ToolDeclaration<Input, Output, Store, Session>,
  ): void
  /** `uri` may be a template: `replay://recordings/{recording}/metadata`. */
  resource(uri: string, declaration: ResourceDeclaration<Store, Session>): void
  prompt<Input extends PromptShape>(name: string, declaration: PromptDeclaration<Input, Store, Session>): void
  /** Declares a route below `/api/apps/<app>` and at the root of the app's own port. */
  route(method: RouteMethod, path: string, declaration: RouteDeclaration<Store, Session>): void
  socket(path: string, declaration: SocketDeclaration<Store, Session>): void
}

type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>

export interface App
  extends Pick<
    AppIdentity<unknown, unknown>,
    'name' | 'about' | 'instructions' | 'rootsSetting' | 'service' | 'errorBody' | 'missingBody' | 'view'
  > {
  readonly data: readonly DataPart[]
  readonly errors: ErrorDefinitions
  readonly tools: readonly AppTool[]
  readonly resources: readonly AppResource[]
  readonly prompts: readonly AppPrompt[]
  readonly routes: readonly AppRoute[]
  readonly sockets: readonly AppSocket[]
  open(env: Env): Promise<unknown>
  session(): unknown
  close(store: unknown): Promise<void>
  discover(store: unknown): Promise<readonly AppTool[]>
  caches(store: unknown): readonly Cache[]
  health(store: unknown): Promise<Readonly<Record<string, unknown>>>
}

/** Throws `INVALID_APP` for duplicates, and for names and schemas that some clients do not support. */
export function defineApp<Store, Session>(
  identity: AppIdentity<Store, Session>,
  declare: (app: Registrar<Store, Session>) => void,
): App {
  const { name, data = [], errors = [], ...identityFields } = identity
  if (!appNamePattern.test(name)) throw new CausewayError('INVALID_APP', `not an app name: ${name}`)
  const tools = new Map<string, AppTool>()
  const resources = new Map<string, AppResource>()
  const prompts = new Map<string, AppPrompt>()
  const routes = new Map<string, AppRoute>()
  const sockets = new Map<string, AppSocket>()
  const addUnique = <T>(map: Map<string, T>, key: string, value: T): void => {
    if (map.has(key)) throw new CausewayError('INVALID_APP', `declared twice: ${name}.${key}`)
    map.set(key, value)
  }
  const codes = new Map<string, ErrorDefinition>()
  for (const { definitions } of errors)
    for (const [code, definition] of Object.entries(definitions)) addUnique(codes, code, definition)
  type Context = ChannelContext<Store, Session>
  declare({
    tool(tool, declaration) {
      wireName(name, tool)
      addUnique(tools, tool, makeTool(tool, declaration))
    },
    resource: (uri, declaration) => addUnique(resources, uri, makeResource(uri, declaration)),
    prompt(prompt, declaration) {
      wireName(name, prompt)
      addUnique(prompts, prompt, makePrompt(prompt, declaration))
    },
    route: (method, path, declaration) =>
      addUnique(routes, `${method} ${path}`, {
        ...declaration,
        method,
        path,
        body: { accepts: ['application/json'], encodings: [], untyped: false, ...declaration.body },
        handle: (request, variables, ctx) => declaration.handle(request, variables, ctx as Context),
      }),
    socket: (path, declaration) =>
      addUnique(sockets, path, {
        ...declaration,
        path,
        open: async (socket, ctx) => declaration.open?.(socket, ctx as Context),
        message: async (text, socket, ctx) => declaration.message(text, socket, ctx as Context),
      }),
  })
  return {
    ...identityFields,
    name,
    data,
    errors: Object.freeze(Object.fromEntries(codes)),
    tools: [...tools.values()],
    resources: [...resources.values()],
    prompts: [...prompts.values()],
    routes: [...routes.values()],
    sockets: [...sockets.values()],
    open: async (env) => identity.open(env),
    session: () => identity.session(),
    close: async (store) => identity.close?.(store as Store),
    discover: async (store) => (await identity.discover?.(store as Store)) ?? [],
    caches: (store) => identity.caches?.(store as Store) ?? [],
    health: async (store) => (await identity.health?.(store as Store)) ?? {},
  }
}
