import type { AppRoute, Variables } from '@causeway/app-kit'
import { decodePercent } from '@causeway/protocol'
import type { FastifyServerOptions } from 'fastify'
import type { HostedApp, Registry } from '../../registry/registry.ts'

export interface RouteMatch {
  readonly route: AppRoute
  readonly variables: Variables
}

export const matchRoutes = ({ routes }: Pick<HostedApp, 'routes'>, path: string): readonly RouteMatch[] =>
  routes.flatMap((route) => {
    const variables = matchPath(route.path, path)
    return variables === undefined ? [] : [{ route, variables }]
  })

export const hasRoute = (app: Pick<HostedApp, 'routes'> | undefined, method: string, path: string): boolean =>
  app !== undefined && matchRoutes(app, path).some(({ route }) => route.method === method)

/** `/api/apps/minds/tools/list?x=1` -> `/tools/list`, still percent-encoded */
export function getAppPath(url: string): string {
  const [path = ''] = url.split('?')
  return `/${path.split('/').slice(4).join('/')}`
}

export function matchPath(pattern: string, path: string): Variables | undefined {
  const parts = pattern.split('/')
  const segments = path.split('/')
  if (parts.length !== segments.length) return undefined
  const variables: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? ''
    const name = /^\{(.+)\}$/.exec(part)?.[1]
    if (name === undefined) {
      if (part !== segment) return undefined
      continue
    }
    const value = decodePercent(segment)
    if (value === undefined || value === '') return undefined
    variables[name] = value
  }
  return variables
}

const overridablePattern = /^\/api\/apps\/([^/?]+)(?:\/tools\/[^/?]+)?(?:\?|$)/

const ownRouteValue = 'own'
const serverRouteValue = ''

export const overrideConstraint = { ownRoute: ownRouteValue }

type Constraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>
type Strategy = Constraints[string]
type Handler = NonNullable<ReturnType<ReturnType<Strategy['storage']>['get']>>

/** See https://fastify.dev/docs/latest/Reference/Routes/#constraints. */
export const createOverrideStrategy = (registry: Registry): Strategy => ({
  name: 'ownRoute',
  storage() {
    const handlers = new Map<string, Handler>()
    return {
      get: (value) => handlers.get(value) ?? null,
      set: (value, handler) => void handlers.set(value, handler),
    }
  },
  deriveConstraint({ method = 'GET', url = '/' }) {
    const name = overridablePattern.exec(url)?.[1]
    if (name === undefined) return serverRouteValue
    return hasRoute(registry.findApp(name), method, getAppPath(url)) ? ownRouteValue : serverRouteValue
  },
})
