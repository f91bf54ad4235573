/** A route of an app's own: plain HTTP beside its tools, in the web-standard form. */
import type { ChannelContext } from './context.ts'
import type { Variables } from './uri-template.ts'

/** HTTP methods that a route may have. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The request bodies that a route accepts. */
export interface RouteBody {
  /** Media types without parameters, the recommended one first. Default: `application/json`. */
  readonly accepts?: readonly string[]
  /** Content codings that the route decodes itself, such as `gzip`. `identity` is always supported. Default: none. */
  readonly encodings?: readonly string[]
  /**
   * Whether programs may omit the content type or send `application/x-www-form-urlencoded`, the default of curl and of
   * Python's urllib. Requests of web pages, which carry `Origin` or `Sec-Fetch-Site`, may not. Default: false.
   */
  readonly untyped?: boolean
}

/** The declaration of a route. */
export interface RouteDeclaration<Store, Session> {
  /** One sentence for the route's entry in `/openapi.json`. */
  readonly about: string
  /** The scope that a token needs for it; default: `read` for GET, `write` for the others. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** The body may be of any size, and is read as it comes; default: it is read whole first, up to the limit of the server. */
  readonly streams?: boolean
  /** Other bodies than these get 415. */
  readonly body?: RouteBody
  /** Answers; the body of the answer may stream. A thrown `CausewayError` becomes its HTTP status and object. */
  handle(request: Request, variables: Variables, ctx: ChannelContext<Store, Session>): Promise<Response>
}

/** A route as the host knows it: mounted below `/api/apps/<app>`, and at the root of the app's own port. */
export interface AppRoute {
  readonly method: RouteMethod
  /** Path with variables, `/recordings/{name}/frames`. */
  readonly path: string
  readonly about: string
  readonly scope?: 'read' | 'write' | 'execute'
  readonly streams?: boolean
  readonly body: Required<RouteBody>
  handle(request: Request, variables: Variables, ctx: ChannelContext): Promise<Response>
}
