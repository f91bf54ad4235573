import type { ChannelContext } from './context.ts'
import type { Variables } from './uri-template.ts'

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Accepted request bodies. Other bodies get status 415. */
export interface RouteBody {
  /** Media types, the recommended one first. Default: `application/json`. */
  readonly accepts?: readonly string[]
  /** Content codings that the route decodes. Default: none. */
  readonly encodings?: readonly string[]
  /** Whether programs, but not web pages, may omit the type or send curl's default (urlencoded). Default: false. */
  readonly untyped?: boolean
}

export interface RouteDeclaration<Store, Session> {
  /** One sentence for `/openapi.json`. */
  readonly about: string
  /** Required token scope. Default: `read` for GET, else `write`. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** Whether the route reads the body itself, as a stream of any size. */
  readonly streams?: boolean
  readonly body?: RouteBody
  /** A thrown `CausewayError` is sent with its HTTP status. */
  handle(request: Request, variables: Variables, ctx: ChannelContext<Store, Session>): Promise<Response>
}

export interface AppRoute extends Omit<RouteDeclaration<unknown, unknown>, 'body'> {
  readonly method: RouteMethod
  readonly path: string
  readonly body: Required<RouteBody>
}

export interface Socket {
  readonly id: string
  readonly variables: Variables
  readonly signal: AbortSignal
  /** Resolves when the operating system has accepted the frame or the connection has ended. */
  send(text: string): Promise<void>
  /** `reason`: at most 123 bytes. */
  close(reason?: string): void
}

export interface SocketDeclaration<Store, Session> {
  readonly about: string
  /** Required token scope, in addition to the scopes of called tools. Default: `write`. */
  readonly scope?: 'read' | 'write' | 'execute'
  open?(socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
  /** Handles frames in order. A thrown error is sent as `{"error": {code, message, remedy, …}}`. */
  message(text: string, socket: Socket, ctx: ChannelContext<Store, Session>): void | Promise<void>
}

export interface AppSocket extends Pick<SocketDeclaration<unknown, unknown>, 'about' | 'scope'> {
  readonly path: string
  open(socket: Socket, ctx: ChannelContext): Promise<void>
  message(text: string, socket: Socket, ctx: ChannelContext): Promise<void>
}
