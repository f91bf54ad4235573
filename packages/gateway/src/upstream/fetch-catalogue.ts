import { isObject, type JsonObject } from '@causeway/protocol'
import type {
  Catalogue,
  ListedPrompt,
  ListedResource,
  ListedTool,
  ResourceTemplate,
  ServerDescription,
} from '../domain/catalogue.ts'
import type { Connection } from './connection.ts'
import { readRpcError } from './upstream-error.ts'

/** Limits endless lists. */
const maxPages = 100
const maxItems = 5000

const methodNotFound = -32601

/** Drops members without a name. Throws errors of the connection and of `tools/list`. */
export async function fetchCatalogue(
  connection: Connection,
  description: ServerDescription,
  signal: AbortSignal,
): Promise<Catalogue> {
  const { capabilities } = description
  const list = (has: unknown, method: string, member: string): Promise<readonly JsonObject[]> =>
    has === undefined ? Promise.resolve([]) : listAll(connection, { method, member, signal })
  const [tools, prompts, resources, templates] = await Promise.all([
    list(capabilities.tools, 'tools/list', 'tools'),
    list(capabilities.prompts, 'prompts/list', 'prompts'),
    list(capabilities.resources, 'resources/list', 'resources'),
    list(capabilities.resources, 'resources/templates/list', 'resourceTemplates'),
  ])
  return {
    ...description,
    tools: tools.filter((tool): tool is ListedTool => hasText(tool, 'name') && isObject(tool.inputSchema)),
    prompts: prompts.filter((prompt): prompt is ListedPrompt => hasText(prompt, 'name')),
    resources: resources.filter((one): one is ListedResource => hasText(one, 'uri') && hasText(one, 'name')),
    templates: templates.filter(
      (one): one is ResourceTemplate => hasText(one, 'uriTemplate') && hasText(one, 'name'),
    ),
  }
}

const hasText = (value: JsonObject, member: string): boolean =>
  typeof value[member] === 'string' && value[member] !== ''

async function listAll(
  connection: Connection,
  { method, member, signal }: { method: string; member: string; signal: AbortSignal },
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  let cursor: unknown
  for (let page = 0; page < maxPages && items.length < maxItems; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await connection.request(method, params, { signal }).catch((error: unknown) => {
      // Some servers declare resources but have no templates.
      if (readRpcError(error)?.code === methodNotFound) return {}
      throw error
    })
    const { [member]: listed, nextCursor } = isObject(result) ? result : {}
    if (Array.isArray(listed)) items.push(...listed.filter(isObject))
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break
    cursor = nextCursor
  }
  return items.slice(0, maxItems)
}
