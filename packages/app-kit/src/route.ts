/** A route of an app's own: plain HTTP beside its tools, in the web-standard form. */
import type { ChannelContext } from './context.ts'
import type { Variables } from './uri-template.ts'

/** HTTP methods that a route may have. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The declaration of a route. */
export interface RouteDeclaration<Store, Session> {
  /** One sentence for the route's entry in `/openapi.json`. */
  readonly about: string
  /** The scope that a token needs for it; default: `read` for GET, `write` for the others. */
  readonly scope?: 'read' | 'write' | 'execute'
  /** The body may be of any size, and is read as it comes; default: it is read whole first, up to the limit of the server. */
  readonly streams?: boolean
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
  handle(request: Request, variables: Variables, ctx: ChannelContext): Promise<Response>
}
