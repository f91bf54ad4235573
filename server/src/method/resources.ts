/** resources/list, resources/templates/list and resources/read. */
import type { AppResource, Variables } from '@causeway/app-kit'
import { CausewayError, isCausewayError, type Resource, type ResourceContents } from '@causeway/protocol'
import type { Hosted } from '../host.ts'
import { methodTask } from '../limit/task.ts'
import { pageOf } from '../page.ts'
import type { Method, MethodCall, MethodContext } from './method.ts'
import { text } from './params.ts'

/** What a resource list or a read may be cached as: it depends on the client and on files. */
const uncached = { ttlMs: 0, cacheScope: 'private' as const }

const hints = ({ caller }: MethodCall) => (caller.era === 'modern' ? uncached : {})

/** The resources that the apps of a mount find worth listing. */
export const listResources: Method = async (call, context) => {
  const lists = await Promise.all(call.lists.hosted.map((hosted) => resourcesOf(hosted, call, context)))
  const { items, ...rest } = pageOf(lists.flat(), {
    cursor: call.params.cursor,
    hash: 'resources',
    size: context.pageSize,
  })
  return { resources: items, ...rest, ...hints(call) }
}

async function resourcesOf(
  hosted: Hosted,
  { caller }: MethodCall,
  { scope }: MethodContext,
): Promise<readonly Resource[]> {
  if (hosted.failure !== undefined || hosted.app.resources.length === 0) return []
  // What a token may not read it need not hear of; the rest of the list is its own all the same.
  if (caller.access?.allows(hosted.path, 'read') === false) return []
  return scope.run(hosted, caller, methodTask('resources/list'), async (ctx) =>
    (await Promise.all(hosted.app.resources.map((resource) => resource.list(ctx)))).flat(),
  )
}

/** The families of resources of a mount. */
export const listTemplates: Method = async (call, { pageSize }) => {
  const templates = call.lists.hosted
    .flatMap(({ app }) => app.resources)
    .filter(({ template }) => template.variables.length > 0)
    .map(({ template, name, about, mimeType }) => ({
      uriTemplate: template.text,
      name,
      description: about,
      mimeType,
    }))
  const { items, ...rest } = pageOf(templates, {
    cursor: call.params.cursor,
    hash: 'templates',
    size: pageSize,
  })
  return { resourceTemplates: items, ...rest, ...hints(call) }
}

/** Reads one resource. */
export const readResource: Method = async (call, { scope }) => {
  const uri = text(call.params, 'uri')
  const found = findResource(call.lists.hosted, uri)
  if (found === undefined)
    throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`, { data: { uri } })
  const { hosted, resource, variables } = found
  const contents = await scope
    .run(hosted, call.caller, methodTask('resources/read'), (ctx) => resource.read(uri, variables, ctx))
    .catch((error: unknown) => missing(uri, error, hosted, call))
  return { contents: [contents], ...hints(call) }
}

/** What a client of the oldest transport reads of what is not there, where the app has a body for it; throws for all others. */
function missing(uri: string, error: unknown, { app }: Hosted, { caller }: MethodCall): ResourceContents {
  const isMiss = isCausewayError(error) && error.code === 'RESOURCE_NOT_FOUND'
  const body = isMiss && caller.channel === 'sse' ? app.missingBody?.(error) : undefined
  if (body === undefined) throw error
  return { uri, mimeType: 'application/json', text: JSON.stringify(body) }
}

/** The resource behind a URI, with its variables. */
export function findResource(
  hosted: readonly Hosted[],
  uri: string,
): { hosted: Hosted; resource: AppResource; variables: Variables } | undefined {
  for (const one of hosted) {
    for (const resource of one.app.resources) {
      const variables = resource.template.match(uri)
      if (variables !== undefined) return { hosted: one, resource, variables }
    }
  }
  return undefined
}
