import { type AppResource, type Ask, isAsk, type Variables } from '@causeway/app-kit'
import { CausewayError, type Resource, type ResourceContents } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { paginate } from '../registry/page.ts'
import { isWidgetUri, readWidget } from '../registry/widgets.ts'
import { type Method, type MethodCall, type MethodContext, requireString } from './method.ts'
import { createMethodOperation } from './operation.ts'

/** Lists and contents depend on the client and on files, so they must not be cached. */
const noCacheHints = { ttlMs: 0, cacheScope: 'private' as const }

const getCacheHints = ({ caller }: MethodCall) => (caller.era === 'modern' ? noCacheHints : {})

export const listResources: Method = async (call, context) => {
  const lists = await Promise.all(
    call.lists.instances.map((instance) => listAppResources(instance, call, context)),
  )
  const page = paginate('resources', [...lists.flat(), ...call.lists.widgets], {
    cursor: call.params.cursor,
    hash: 'resources',
    size: context.registry.pageSize,
  })
  return { ...page, ...getCacheHints(call) }
}

async function listAppResources(
  instance: AppInstance,
  { caller }: MethodCall,
  { runner }: MethodContext,
): Promise<readonly Resource[]> {
  const { app, path, failure } = instance
  if (failure !== undefined || app.resources.length === 0) return []
  if (caller.access?.allows(path, 'read') === false) return []
  const operation = createMethodOperation('resources/list')
  return runner.run({ instance, caller, operation }, async (ctx) =>
    (await Promise.all(app.resources.map((resource) => resource.list(ctx)))).flat(),
  )
}

export const listTemplates: Method = async (call, { registry }) => {
  const templates = call.lists.instances.flatMap(({ app }) => app.resources).flatMap(toListedTemplates)
  const page = paginate('resourceTemplates', templates, {
    cursor: call.params.cursor,
    hash: 'templates',
    size: registry.pageSize,
  })
  return { ...page, ...getCacheHints(call) }
}

function toListedTemplates({ template, templates, name, about, mimeType }: AppResource) {
  if (templates !== undefined) return templates
  if (template.variables.length === 0) return []
  return [{ uriTemplate: template.text, name, description: about, mimeType }]
}

export const readResource: Method = async (call, { runner }) => {
  const uri = requireString(call.params, 'uri')
  if (isWidgetUri(uri)) return { contents: [await readWidget(uri)], ...getCacheHints(call) }
  const match = findResource(call.lists.instances, uri)
  if (match === undefined)
    throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`, { data: { uri } })
  const { instance, resource, variables } = match
  const operation = createMethodOperation('resources/read')
  const contents = await runner
    .run<readonly ResourceContents[] | Ask>({ instance, caller: call.caller, operation }, async (ctx) =>
      resource.readAll === undefined
        ? [await resource.read(uri, variables, ctx)]
        : resource.readAll(uri, variables, ctx),
    )
    .catch((error: unknown) => [toMissingContents(uri, error, instance, call)])
  return isAsk(contents) ? contents : { contents, ...getCacheHints(call) }
}

/** Returns the app's own contents for `RESOURCE_NOT_FOUND` to HTTP+SSE clients. Otherwise throws the error. */
function toMissingContents(
  uri: string,
  error: unknown,
  { app }: AppInstance,
  { caller }: MethodCall,
): ResourceContents {
  const isMissing = CausewayError.is(error, 'RESOURCE_NOT_FOUND')
  const body = isMissing && caller.channel === 'sse' ? app.missingBody?.(error) : undefined
  if (body === undefined) throw error
  return { uri, mimeType: 'application/json', text: JSON.stringify(body) }
}

export function findResource(
  instances: readonly AppInstance[],
  uri: string,
): { instance: AppInstance; resource: AppResource; variables: Variables } | undefined {
  for (const instance of instances) {
    for (const resource of instance.app.resources) {
      const variables = resource.template.match(uri)
      if (variables !== undefined) return { instance, resource, variables }
    }
  }
  return undefined
}
