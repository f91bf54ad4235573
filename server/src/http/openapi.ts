/** `/openapi.json`: every plain HTTP call, described from the apps' declarations (https://spec.openapis.org/oas/v3.1.1). */
import type { AppRoute, AppTool } from '@causeway/app-kit'
import { codes } from '@causeway/protocol'
import type { Core, HostedApp } from '../core.ts'

type Json = Readonly<Record<string, unknown>>

/** The document for the apps as they are now. */
export function openApi(core: Core): Json {
  const { serverInfo } = core.describe({ path: '/mcp' })
  const apps = core.apps()
  return {
    openapi: '3.1.1',
    info: { title: serverInfo.title, version: serverInfo.version },
    tags: apps.map(({ name, about }) => ({ name, description: about })),
    paths: {
      ...ownPaths,
      ...Object.assign({}, ...apps.map(appPaths)),
    },
    // A token is wanted where the server was given a file of them.
    security: [{}, { token: [] }],
    components: {
      schemas: { Error: errorSchema },
      parameters: { session: sessionParameter },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

const session = { $ref: '#/components/parameters/session' }
const failed = {
  description: 'It failed: what is wrong and what to do',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const json = (description: string, schema: Json = { type: 'object' }): Json => ({
  description,
  content: { 'application/json': { schema } },
})

const ownPaths = {
  '/health': {
    get: {
      summary: 'Readiness, version, data folder',
      responses: { 200: json('Ready'), 503: json('Stopping') },
    },
  },
  '/health/{app}': {
    get: {
      summary: 'One app as a server: status, name, endpoint, port',
      parameters: [{ name: 'app', in: 'path', required: true, schema: { type: 'string' } }],
      responses: { 200: json('Ready'), 503: json('Failed or stopping'), 404: failed },
    },
  },
  '/metrics': {
    get: {
      summary: 'Numbers for Prometheus',
      responses: { 200: { description: 'Text exposition', content: { 'text/plain': {} } } },
    },
  },
  '/api/apps': { get: { summary: 'The apps and their tools', responses: { 200: json('Apps') } } },
  '/api/apps/{app}': {
    get: {
      summary: 'One app: schemas of its tools, its own routes',
      parameters: [{ name: 'app', in: 'path', required: true, schema: { type: 'string' } }],
      responses: { 200: json('The app'), default: failed },
    },
  },
  '/api/registry/refresh': {
    post: {
      summary: 'Looks for tools again, now',
      responses: { 200: json('Whether a list changed'), default: failed },
    },
  },
}

function appPaths(app: HostedApp): Json {
  const root = `/api/apps/${app.path}`
  const tools = app.tools.map(
    (tool) => [`${root}/tools/${tool.name}`, { post: toolOperation(app, tool) }] as const,
  )
  const paths: Record<string, Record<string, unknown>> = Object.fromEntries(tools)
  for (const route of app.routes) {
    const path = `${root}${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: routeOperation(app, route) }
  }
  return paths
}

const toolOperation = (app: HostedApp, tool: AppTool): Json => ({
  operationId: `${app.name}__${tool.name}`,
  tags: [app.name],
  summary: tool.about,
  parameters: [session],
  requestBody: {
    content: { 'application/json': { schema: tool.inputSchema, example: tool.example.args } },
  },
  responses: { 200: json('The answer', tool.outputSchema ?? { type: 'object' }), default: failed },
})

/** The body of a route. GET and DELETE have none. */
const routeBody = ({ method, body }: AppRoute): Json =>
  method === 'GET' || method === 'DELETE'
    ? {}
    : { requestBody: { content: Object.fromEntries(body.accepts.map((type) => [type, {}])) } }

const routeOperation = (app: HostedApp, route: AppRoute): Json => ({
  tags: [app.name],
  summary: route.about,
  parameters: [
    session,
    ...[...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
  ],
  ...routeBody(route),
  responses: { default: failed },
})

const sessionParameter = {
  name: 'Causeway-Session',
  in: 'header',
  description: 'Names the state of this client; callers without it share one',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
}

const errorSchema = {
  type: 'object',
  required: ['code', 'message', 'remedy', 'data', 'legacy_code', 'retryable'],
  properties: {
    code: { type: 'string', enum: Object.keys(codes) },
    message: { type: 'string', description: 'What is wrong' },
    remedy: { type: 'string', description: 'What to do' },
    data: { type: 'object' },
    legacy_code: { type: ['integer', 'null'] },
    retryable: { type: 'boolean', description: 'The same call may succeed later' },
  },
}
