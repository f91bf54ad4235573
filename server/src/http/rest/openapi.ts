import type { AppRoute, AppTool } from '@causeway/app-kit'
import type { Core } from '../../host/core.ts'
import type { HostedApp } from '../../registry/registry.ts'

type Json = Readonly<Record<string, unknown>>

/** Returns OpenAPI 3.1.1 (https://spec.openapis.org/oas/v3.1.1). */
export function describeApi(core: Core): Json {
  const { serverInfo } = core.registry.getLists({ path: '/mcp' }).description
  const apps = core.registry.apps
  return {
    openapi: '3.1.1',
    info: { title: serverInfo.title, version: serverInfo.version },
    tags: apps.map(({ name, about }) => ({ name, description: about })),
    paths: {
      ...ownPaths,
      ...Object.assign({}, ...apps.map(describeAppPaths)),
    },
    // The empty entry makes the token optional.
    security: [{}, { token: [] }],
    components: {
      schemas: { Error: createErrorSchema(core.errors.codes) },
      parameters: { session: sessionParameter },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

const session = { $ref: '#/components/parameters/session' }
const failed = {
  description: 'Failure: what is wrong and what to do',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const describeJsonResponse = (description: string, schema: Json = { type: 'object' }): Json => ({
  description,
  content: { 'application/json': { schema } },
})

const describePathParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
})

const ownPaths = {
  '/health': {
    get: {
      summary: 'Readiness, version, data folder',
      responses: { 200: describeJsonResponse('Ready'), 503: describeJsonResponse('Stopping') },
    },
  },
  '/health/{app}': {
    get: {
      summary: 'One app as a server: status, name, endpoint, port',
      parameters: [describePathParameter('app')],
      responses: {
        200: describeJsonResponse('Ready'),
        503: describeJsonResponse('Failed or stopping'),
        404: failed,
      },
    },
  },
  '/metrics': {
    get: {
      summary: 'Metrics for Prometheus',
      responses: { 200: { description: 'Text exposition', content: { 'text/plain': {} } } },
    },
  },
  '/api/apps': { get: { summary: 'Apps and their tools', responses: { 200: describeJsonResponse('Apps') } } },
  '/api/apps/{app}': {
    get: {
      summary: 'One app: schemas of its tools and its routes',
      parameters: [describePathParameter('app')],
      responses: { 200: describeJsonResponse('The app'), default: failed },
    },
  },
  '/api/hosted': {
    get: {
      summary: 'Hosted MCP servers and their states',
      responses: { 200: describeJsonResponse('Servers'), default: failed },
    },
  },
  '/api/registry/refresh': {
    post: {
      summary: 'Refresh the tool lists',
      responses: { 200: describeJsonResponse('Whether a list changed'), default: failed },
    },
  },
}

function describeAppPaths(app: HostedApp): Json {
  const root = `/api/apps/${app.path}`
  const tools = app.tools.map(
    (tool) => [`${root}/tools/${tool.name}`, { post: describeTool(app, tool, root) }] as const,
  )
  const paths: Record<string, Record<string, unknown>> = Object.fromEntries(tools)
  for (const route of app.routes) {
    const path = `${root}${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(app, route) }
  }
  return paths
}

function describeTool(app: HostedApp, tool: AppTool, root: string): Json {
  const { name, about, inputSchema, outputSchema = { type: 'object' }, example } = tool
  const operation = `#/paths/${`${root}/tools/${name}`.replaceAll('/', '~1')}/post`
  const toPointer = (body: string): string => `${operation}/${body}/content/application~1json/schema`
  const input = embedSchema(inputSchema, toPointer('requestBody'))
  return {
    operationId: `${app.name}__${name}`,
    tags: [app.name],
    summary: about,
    parameters: [session],
    requestBody: { content: { 'application/json': { schema: input, example: example.args } } },
    responses: {
      200: describeJsonResponse('The result', embedSchema(outputSchema, toPointer('responses/200'))),
      default: failed,
    },
  }
}

/**
 * Rewrites the references of a schema, which are relative to its root, for its position at `pointer` in the
 * document.
 */
const embedSchema = (schema: Json, pointer: string): Json =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value)
      ? `${pointer}${value.slice(1)}`
      : value,
  )

const describeRouteBody = ({ method, body }: AppRoute): Json =>
  method === 'GET' || method === 'DELETE'
    ? {}
    : { requestBody: { content: Object.fromEntries(body.accepts.map((type) => [type, {}])) } }

const describeRoute = (app: HostedApp, route: AppRoute): Json => ({
  tags: [app.name],
  summary: route.about,
  parameters: [
    session,
    ...[...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => describePathParameter(name)),
  ],
  ...describeRouteBody(route),
  responses: { default: failed },
})

const sessionParameter = {
  name: 'Causeway-Session',
  in: 'header',
  description: 'Identifies the state of this client; clients without it share one state',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
}

const createErrorSchema = (codes: readonly string[]) => ({
  type: 'object',
  required: ['code', 'message', 'remedy', 'data', 'legacy_code', 'retryable'],
  properties: {
    code: { type: 'string', enum: codes },
    message: { type: 'string', description: 'What is wrong' },
    remedy: { type: 'string', description: 'What to do' },
    data: { type: 'object' },
    legacy_code: { type: ['integer', 'null'] },
    retryable: { type: 'boolean', description: 'The same call may succeed later' },
  },
})
