/** An app is a value: who it is, how it opens, and everything that it offers. */
import { appNamePattern, CausewayError, type ErrorObject, wireName } from '@causeway/protocol'
import type { Cache } from './cache.ts'
import type { Env } from './context.ts'
import type { DataPart } from './data-part.ts'
import { type AppPrompt, makePrompt, type PromptDeclaration, type PromptShape } from './prompt.ts'
import { type AppResource, makeResource, type ResourceDeclaration } from './resource.ts'
import type { AppRoute, RouteDeclaration, RouteMethod } from './route.ts'
import type { Shape } from './schema.ts'
import type { AppSocket, SocketDeclaration } from './socket.ts'
import { type AppTool, makeTool, type ToolDeclaration } from './tool.ts'

/** Who an app is and how it lives. */
export interface AppIdentity<Store, Session> {
  /** `^[A-Z][A-Za-z0-9]*$`: the first half of every wire name. */
  readonly name: string
  /** One sentence: what it is for. */
  readonly about: string
  /** Environment variable with further folders that the app may read, beside `CAUSEWAY_ROOTS`. */
  readonly rootsSetting?: string
  /** The name that its own design gave it as a server; told by `/health` of its own port. Default: the path of the app. */
  readonly service?: string
  /** What it keeps in the data folder, in the order in which it is copied: a file before the database that names it. */
  readonly data?: readonly DataPart[]
  /**
   * A failed call in the words of the app's own design, in place of the text `CODE: message; remedy`. It is the
   * `structuredContent` too where the output schema of the tool allows it; the error object stands in `_meta` as always.
   */
  errorBody?(error: ErrorObject): Readonly<Record<string, unknown>>
  /**
   * What a client of the oldest transport (HTTP+SSE of 2024-11-05) reads in the place of a resource that is not there, where
   * the app's own design wants it so. Every other client gets the error of the protocol.
   */
  missingBody?(error: CausewayError): Readonly<Record<string, unknown>>
  /** Opens the app's state, once, shared by every client. */
  open(env: Env): Store | Promise<Store>
  /** The state of a client that has just come: plain JSON. */
  session(): Session
  /** Lets go of everything that `open` took. */
  close?(store: Store): void | Promise<void>
  /** Tools known only at run time, beside the declared ones; called at most every few minutes and on `changed.tools()`. */
  discover?(store: Store): Promise<readonly AppTool[]>
  /** What it keeps in memory and can give back; asked again at each look, for it may have come since. */
  caches?(store: Store): readonly Cache[]
  /** Numbers and words for `/health`. */
  health?(store: Store): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
}

/** Where an app declares what it offers. */
export interface Registrar<Store, Session> {
  tool<Input extends Shape, Output extends Shape>(
    name: string,
    declaration: ToolDeclaration<Input, Output, Store, Session>,
  ): void
  /** A URI, or a template whose variables are slash-free ids: `replay://recordings/{recording}/metadata`. */
  resource(uri: string, declaration: ResourceDeclaration<Store, Session>): void
  prompt<Input extends PromptShape>(name: string, declaration: PromptDeclaration<Input, Store, Session>): void
  /** Mounted below `/api/apps/<app>`, and at the root of the app's own port. A path may be `/`. */
  route(method: RouteMethod, path: string, declaration: RouteDeclaration<Store, Session>): void
  /** A WebSocket, mounted like a route. */
  socket(path: string, declaration: SocketDeclaration<Store, Session>): void
}

/** An app as the host knows it, its types erased. */
export interface App {
  readonly name: string
  readonly about: string
  readonly rootsSetting?: string
  readonly service?: string
  readonly data: readonly DataPart[]
  errorBody?(error: ErrorObject): Readonly<Record<string, unknown>>
  missingBody?(error: CausewayError): Readonly<Record<string, unknown>>
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

/**
 * Makes an app. `declare` runs once, at definition, and says what the app offers.
 *
 * Throws `INVALID_APP` for names that clients cannot use, for a name declared twice, and for schemas that some client
 * cannot read.
 */
export function defineApp<Store, Session>(
  identity: AppIdentity<Store, Session>,
  declare: (app: Registrar<Store, Session>) => void,
): App {
  const { name, about, rootsSetting, service, data = [], errorBody, missingBody } = identity
  if (!appNamePattern.test(name)) throw new CausewayError('INVALID_APP', `not an app name: ${name}`)
  const tools = new Map<string, AppTool>()
  const resources = new Map<string, AppResource>()
  const prompts = new Map<string, AppPrompt>()
  const routes = new Map<string, AppRoute>()
  const sockets = new Map<string, AppSocket>()
  const put = <T>(map: Map<string, T>, key: string, value: T): void => {
    if (map.has(key)) throw new CausewayError('INVALID_APP', `declared twice: ${name}.${key}`)
    map.set(key, value)
  }
  declare({
    tool: (tool, declaration) => put(tools, checked(name, tool), makeTool(tool, declaration)),
    resource: (uri, declaration) => put(resources, uri, makeResource(uri, declaration)),
    prompt: (prompt, declaration) => put(prompts, checked(name, prompt), makePrompt(prompt, declaration)),
    route: (method, path, declaration) =>
      put(routes, `${method} ${path}`, {
        method,
        path,
        about: declaration.about,
        ...(declaration.scope === undefined ? {} : { scope: declaration.scope }),
        ...(declaration.streams === undefined ? {} : { streams: declaration.streams }),
        body: { accepts: ['application/json'], encodings: [], untyped: false, ...declaration.body },
        handle: (request, variables, ctx) =>
          declaration.handle(request, variables, ctx as Parameters<typeof declaration.handle>[2]),
      }),
    socket: (path, declaration) =>
      put(sockets, path, {
        path,
        about: declaration.about,
        ...(declaration.scope === undefined ? {} : { scope: declaration.scope }),
        open: async (socket, ctx) =>
          declaration.open?.(socket, ctx as Parameters<typeof declaration.message>[2]),
        message: async (text, socket, ctx) =>
          declaration.message(text, socket, ctx as Parameters<typeof declaration.message>[2]),
      }),
  })
  return {
    name,
    about,
    ...(rootsSetting === undefined ? {} : { rootsSetting }),
    ...(service === undefined ? {} : { service }),
    data,
    ...(errorBody === undefined ? {} : { errorBody }),
    ...(missingBody === undefined ? {} : { missingBody }),
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

/** A name that clients can use, alone and behind the app's; throws `INVALID_APP`. */
function checked(app: string, name: string): string {
  wireName(app, name)
  return name
}
