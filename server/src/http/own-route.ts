/** Which of an app's own routes a URL below `/api/apps` means, where the server has one of its own at the same path. */
import type { AppRoute, Variables } from '@causeway/app-kit'
import type { FastifyServerOptions } from 'fastify'
import type { Core, HostedApp } from '../core.ts'
import { matchPath } from './path-pattern.ts'

/** A route of an app with the variables of its path. */
export interface FoundRoute {
  readonly route: AppRoute
  readonly variables: Variables
}

/** The app's path of a URL below `/api/apps/<app>`: `/api/apps/minds/tools/list?x=1` -> `/tools/list`, without query. */
export function pathInApp(url: string): string {
  // From the text of the URL: its segments must be divided before they are decoded.
  const [whole = ''] = url.split('?')
  return `/${whole.split('/').slice(4).join('/')}`
}

/** The routes of an app that a path fits, whatever their method. */
export const routesAt = ({ routes }: Pick<HostedApp, 'routes'>, path: string): readonly FoundRoute[] =>
  routes.flatMap((route) => {
    const variables = matchPath(route.path, path)
    return variables === undefined ? [] : [{ route, variables }]
  })

/** True where the app declares a route of this method and path itself; it then goes before one of the server's. */
export const isOwnRoute = (
  app: Pick<HostedApp, 'routes'> | undefined,
  method: string,
  path: string,
): boolean => app !== undefined && routesAt(app, path).some(({ route }) => route.method === method)

/** The places below `/api/apps` that are the server's, unless the app declares a route there. */
const contested = /^\/api\/apps\/([^/?]+)(?:\/tools\/[^/?]+)?(?:\?|$)/

const own = 'own'
const none = ''

/** The constraint of routes that an app declares at a place of the server's. */
export const ownConstraint = { ownRoute: own }

type Constraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>
type Strategy = Constraints[string]
type Handler = NonNullable<ReturnType<ReturnType<Strategy['storage']>['get']>>

/** Fastify's way of telling two routes of one path apart (https://fastify.dev/docs/latest/Reference/Routes/#constraints). */
export const ownRouteStrategy = (core: Pick<Core, 'apps'>): Strategy => ({
  name: 'ownRoute',
  storage() {
    const handlers = new Map<string, Handler>()
    return {
      get: (value) => handlers.get(value) ?? null,
      set: (value, handler) => void handlers.set(value, handler),
    }
  },
  deriveConstraint({ method = 'GET', url = '/' }) {
    const app = contested.exec(url)?.[1]
    if (app === undefined) return none
    const hosted = core.apps().find(({ path }) => path === app)
    return isOwnRoute(hosted, method, pathInApp(url)) ? own : none
  },
})
