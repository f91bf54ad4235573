import { type CausewayError, isCausewayError, isObject, type JsonObject } from '@causeway/protocol'
import type {
  Catalogue,
  ListedPrompt,
  ListedResource,
  ListedTool,
  ResourceTemplate,
  ServerDescription,
} from '../domain/catalogue.ts'
import { GatewayError } from '../errors.ts'
import type { Connection } from './connection.ts'
import { readRpcError } from './upstream-error.ts'

/** Limits for endless lists. */
const maxPages = 100
const maxItems = 5000

/** Timeout for a page of prompts or resources, which must not delay the tools. */
const listTimeoutMs = 15_000

const methodNotFound = -32601

interface ListOptions {
  readonly signal: AbortSignal
  /** Called if a list other than `tools/list` fails. The list is then empty. */
  onSkipped(method: string, error: CausewayError): void
}

/** Drops definitions that lack a required member. Throws errors of the connection and of `tools/list`. */
export async function fetchCatalogue(
  connection: Connection,
  description: ServerDescription,
  { signal, onSkipped }: ListOptions,
): Promise<Catalogue> {
  const { capabilities } = description
  const listOptional = async (
    capability: unknown,
    method: string,
    member: string,
  ): Promise<readonly JsonObject[]> => {
    if (capability === undefined) return []
    return listAll(connection, { method, member, signal, maxMs: listTimeoutMs }).catch((error: unknown) => {
      if (!isCausewayError(error) || GatewayError.is(error, 'UPSTREAM_GONE')) throw error
      onSkipped(method, error)
      return []
    })
  }
  const listTools = async (): Promise<readonly JsonObject[]> =>
    capabilities.tools === undefined
      ? []
      : listAll(connection, { method: 'tools/list', member: 'tools', signal })
  const [tools, prompts, resources, templates] = await Promise.all([
    listTools(),
    listOptional(capabilities.prompts, 'prompts/list', 'prompts'),
    listOptional(capabilities.resources, 'resources/list', 'resources'),
    listOptional(capabilities.resources, 'resources/templates/list', 'resourceTemplates'),
  ])
  return {
    ...description,
    tools: tools.filter((tool): tool is ListedTool => hasText(tool, 'name') && isObject(tool.inputSchema)),
    prompts: prompts.filter((prompt): prompt is ListedPrompt => hasText(prompt, 'name')),
    resources: resources.filter(
      (item): item is ListedResource => hasText(item, 'uri') && hasText(item, 'name'),
    ),
    templates: templates.filter(
      (item): item is ResourceTemplate => hasText(item, 'uriTemplate') && hasText(item, 'name'),
    ),
  }
}

const hasText = (value: JsonObject, member: string): boolean =>
  typeof value[member] === 'string' && value[member] !== ''

async function listAll(
  connection: Connection,
  { method, member, ...options }: { method: string; member: string; signal: AbortSignal; maxMs?: number },
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = []
  const cursors = new Set<unknown>()
  let cursor: unknown
  while (cursors.size < maxPages && items.length < maxItems) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await connection.request(method, params, options).catch((error: unknown) => {
      // Some servers declare resources but have no templates.
      if (readRpcError(error)?.code === methodNotFound) return {}
      throw error
    })
    const { [member]: page, nextCursor } = isObject(result) ? result : {}
    for (const item of Array.isArray(page) ? page.slice(0, maxItems) : [])
      if (isObject(item)) items.push(item)
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) break
    cursor = nextCursor
    cursors.add(cursor)
  }
  return items.slice(0, maxItems)
}
