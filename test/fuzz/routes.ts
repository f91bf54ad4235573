/** Invalid plain HTTP requests: every route of the server and the apps with random methods, paths and bodies. */
import { pathName } from '@causeway/protocol'
import { documented } from '../../scripts/docs/makers.ts'
import type { Random } from '../random.ts'
import { makeUri } from './envelopes.ts'
import { findFaults } from './judge.ts'
import { nasty, nastyText, type Traps, toJson, wellFormed } from './nasty.ts'
import { type Product, planted } from './product.ts'
import type { FuzzCase } from './run.ts'
import type { Ways } from './ways.ts'

interface Place {
  readonly app: string
  readonly method: string
  /** Path with variables in braces. */
  readonly path: string
}

/** Routes grouped by app, so that each app is selected equally often. */
const appRoutes: readonly (readonly Place[])[] = documented
  .filter(({ routes }) => routes.length > 0)
  .map(({ name, routes }) => routes.map(({ method, path }) => ({ app: pathName(name), method, path })))

const serverPaths = [
  '/health',
  '/health/{app}',
  '/metrics',
  '/openapi.json',
  '/api/apps',
  '/api/apps/{app}',
  '/api/apps/{app}/tools/{tool}',
  '/api/registry/refresh',
  '/mcp',
  '/mcp/{app}',
  '/sse',
  '/sse/{app}',
  '/messages',
  '/{tool}',
]

const methods = ['GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

/** Makes a request. */
export function makeRouteCase(random: Random, product: Product, ways: Ways): FuzzCase {
  const { traps } = product
  const place = random.below(3) > 0 ? random.pick(random.pick(appRoutes)) : undefined
  const method = place !== undefined && random.below(5) > 0 ? place.method : random.pick(methods)
  const path = fillVariables(place?.path ?? random.pick(serverPaths), random, traps)
  const url = makeUrl(random, { product, place, path })
  const body = method === 'GET' || method === 'HEAD' ? undefined : makeBody(random, traps)
  const headers = {
    'content-type': random.pick([
      'application/json',
      'application/json',
      'application/x-ndjson',
      'text/plain',
      'x',
    ]),
    ...(random.below(5) === 0 ? { 'causeway-session': planted('session') } : {}),
    ...(random.below(8) === 0 ? { 'last-event-id': random.pick(['1', '1.1', '-', '9'.repeat(400)]) } : {}),
    ...(random.below(8) === 0 ? { 'content-encoding': random.pick(['gzip', 'br', 'identity', 'x']) } : {}),
  }
  return {
    what: `${method} ${url} ${JSON.stringify(headers)} ${body ?? ''}`,
    async send() {
      const response = await ways.send({ url, method, headers, ...(body === undefined ? {} : { body }) })
      // A response to HEAD has no body.
      return method === 'HEAD' ? [] : findFaults(response, 'open', product)
    },
  }
}

function makeUrl(
  random: Random,
  {
    product,
    place,
    path,
  }: { readonly product: Product; readonly place: Place | undefined; readonly path: string },
): string {
  const query =
    random.below(6) === 0
      ? `?${random.pick(['since=x', 'limit=-1', 'limit=1e9', 'app=%00', 'a[b]=1', '__proto__=1', 'cursor=%ff', 'sessionId=x'])}`
      : ''
  if (place === undefined) return `${random.pick([product.url, ...product.own.values()])}${path}${query}`
  const own = product.own.get(place.app)
  return random.below(2) === 0 && own !== undefined
    ? `${own}${path}${query}`
    : `${product.url}/api/apps/${place.app}${path === '/' ? '' : path}${query}`
}

const names = [
  'drop',
  'run',
  'sample.plot.json',
  'word_count',
  'replay',
  'debrief',
  'list_apps',
  '1',
  '__proto__',
  'constructor',
]

function fillVariables(path: string, random: Random, traps: Traps): string {
  return path.replace(/\{[a-z_]+\}/g, () => {
    const text = random.pick([
      () => random.pick(names),
      () => nastyText(random, traps),
      () => makeUri(random, traps),
    ])()
    // Some paths are as malformed as a request line permits.
    return random.below(8) === 0
      ? text.replace(/[^\x21-\x7e]|[?#\\^`{|}<>"]/g, '%zz').slice(0, 3000)
      : encodeURIComponent(wellFormed(text)).slice(0, 3000)
  })
}

const commands = [
  'get_feature_collection',
  'set_feature_collection',
  'get_selected_features',
  'set_selected_features',
  'update_features',
  'add_features',
  'delete_features',
  'zoom_to_selection',
  'list_open_plots',
  'get_time',
  'set_time',
  'get_viewport',
  'set_viewport',
  'notify',
  'apply_command',
]

/** Makes a command of the original state server. */
export const command = (random: Random, traps: Traps): object => ({
  command: random.below(8) === 0 ? nasty(random, traps) : random.pick(commands),
  params: random.pick([
    () => nasty(random, traps),
    () => ({
      filename: random.pick(['sample.plot.json', 'mission1.plot.json', undefined, nasty(random, traps)]),
      [random.pick([
        'ids',
        'features',
        'data',
        'timeState',
        'viewportState',
        'message',
        'command',
        'featureCollection',
      ])]: nasty(random, traps),
    }),
  ])(),
})

function makeBody(random: Random, traps: Traps): string {
  return random.pick([
    () => toJson(nasty(random, traps)),
    () => toJson(command(random, traps)),
    () =>
      toJson({ name: random.pick(['word_count', nasty(random, traps)]), arguments: nasty(random, traps) }),
    () => toJson({ from: nasty(random, traps) }),
    () => frames(random, traps),
    () => nastyText(random, traps),
    () => '',
  ])()
}

/** Makes lines for the recorder; some of them are valid frames. */
function frames(random: Random, traps: Traps): string {
  const line = (at: number): string =>
    random.pick([
      () =>
        toJson({
          frame_id: at,
          time: at / 60,
          bodies: [{ id: 1, position: [0, at, 0], velocity: [0, 1, 0] }],
        }),
      () => toJson({ frame_id: nasty(random, traps), time: at / 60, bodies: nasty(random, traps) }),
      () => toJson(nasty(random, traps)),
      () => nastyText(random, traps),
    ])()
  return Array.from({ length: random.below(6) }, (_, at) => line(at + 1)).join('\n')
}
