import type { ChannelContext } from './context.ts'
import type { Variables } from './uri-template.ts'

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Request bodies that a route accepts. Others get 415. */
export interface RouteBody {
  /** Media types, the recommended one first. Default: `application/json`. */
  readonly accepts?: readonly string[]
  /** Content codings that the route decodes itself, such as `gzip`. Default: none. */
  readonly encodings?: readonly string[]
  /** Whether programs, but not web pages, may omit the type or send the default of curl (urlencoded). Default: false. */
  readonly untyped?: boolean
}

export interface RouteDeclaration<Store, Session> {
  /** One sentence for `/openapi.json`. */
  readonly about: string
  /** Required token scope. Default: `read` for GET, else `write`. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** Whether the body is a stream of any size. By default, the server reads it first. */
  readonly streams?: boolean
  readonly body?: RouteBody
  /** Returns the response, which may stream. A thrown `CausewayError` is sent with its HTTP status. */
  handle(request: Request, variables: Variables, ctx: ChannelContext<Store, Session>): Promise<Response>
}

export interface AppRoute extends Omit<RouteDeclaration<unknown, unknown>, 'body'> {
  readonly method: RouteMethod
  /** Path with variables: `/recordings/{name}/frames`. */
  readonly path: string
  readonly body: Required<RouteBody>
}

/** A WebSocket connection. */
export interface Socket {
  /** Identifies the connection. */
  readonly id: string
  readonly variables: Variables
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal
  /** Resolves when the system has taken the frame, or if the connection has ended. */
  send(text: string): Promise<void>
  /** Ends the connection. The reason has at most 123 bytes. */
  close(reason?: string): void
}

/** The declaration of a WebSocket with text frames. */
export interface SocketDeclaration<Store, Session> {
  /** One sentence. */
  readonly about: string
  /** Required token scope, in addition to those of the tools that it calls. Default: `write`. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** Runs when a client has connected. */
  open?(socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
  /** Handles frames in order. A thrown error is sent as `{"error": {code, message, remedy, …}}`. */
  message(text: string, socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
}

export interface AppSocket extends Pick<SocketDeclaration<unknown, unknown>, 'about' | 'scope'> {
  /** Path with variables: `/plots/{plot}`. */
  readonly path: string
  open(socket: Socket, ctx: ChannelContext): Promise<void>
  message(text: string, socket: Socket, ctx: ChannelContext): Promise<void>
}
