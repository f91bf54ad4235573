import { createHash } from 'node:crypto'
import {
  type App,
  type AppPrompt,
  type AppResource,
  type AppTool,
  type Ask,
  type Completion,
  isAsk,
  type PromptResult,
  type ToolContext,
  type Variables,
} from '@causeway/app-kit'
import {
  type CallToolResult,
  isObject,
  type JsonObject,
  type Resource,
  type ResourceContents,
} from '@causeway/protocol'
import { withLogin } from '../calls/with-login.ts'
import type { ListedPrompt, ListedTool } from '../domain/catalogue.ts'
import {
  getTaskSupport,
  normalizePrompt,
  normalizeResource,
  normalizeTool,
} from '../domain/listed-definitions.ts'
import { chooseWireNames, matchesPattern, removeDuplicates } from '../domain/names.ts'
import type { Reviewed, ReviewedCatalogue } from '../domain/pins.ts'
import { rewriteBlock, rewriteToolMeta, toCausewayUri, toUpstreamUri } from '../domain/resource-uris.ts'
import { GatewayError } from '../errors.ts'
import type { UpstreamServer } from '../instances/upstream-server.ts'

const maxInstructionsLength = 2000

export interface HostedAppOptions {
  readonly name: string
  readonly server: UpstreamServer
  /** Absent until the server has started once. */
  readonly reviewedCatalogue: ReviewedCatalogue | undefined
  health(): Readonly<Record<string, unknown>>
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export function createHostedApp({ name, server, reviewedCatalogue, health }: HostedAppOptions): App {
  const { config } = server
  const path = name.toLowerCase()
  const about = `The tools of the MCP server ${config.name}.`
  const instructions = reviewedCatalogue?.instructions.trim() ?? ''
  return {
    name,
    about,
    instructions: instructions === '' ? about : instructions.slice(0, maxInstructionsLength),
    data: [],
    errors: GatewayError.definitions,
    tools: createTools(name, path, server, reviewedCatalogue),
    prompts: createPrompts(name, path, server, reviewedCatalogue),
    resources: createResources(path, server),
    routes: [],
    sockets: [],
    open: async () => server,
    session: () => ({}),
    close: async () => {},
    discover: async () => [],
    caches: () => [],
    health: async () => health(),
  }
}

function createTools(
  app: string,
  path: string,
  server: UpstreamServer,
  reviewedCatalogue: ReviewedCatalogue | undefined,
): readonly AppTool[] {
  const { allow, deny } = server.config.tools
  const isEnabled = (name: string): boolean =>
    (allow === undefined || matchesPattern(name, allow)) && !matchesPattern(name, deny)
  // Read from the catalogue, because pins omit `execution`.
  const taskSupportByTool = new Map(server.catalogue?.tools.map((tool) => [tool.name, getTaskSupport(tool)]))
  const entries = (reviewedCatalogue?.tools ?? []).flatMap((item) => {
    const entry = normalizeTool(item.entry)
    if (entry === undefined || !isEnabled(entry.name)) return []
    return [{ ...item, entry, name: entry.name, task: taskSupportByTool.get(entry.name) }]
  })
  const uniqueEntries = removeDuplicates(entries)
  const names = chooseWireNames(
    app,
    uniqueEntries.map(({ name }) => name),
    digest,
  )
  return uniqueEntries.map((item) => createTool(item, names.get(item.name) as string, path, server))
}

interface ReviewedTool extends Reviewed<ListedTool> {
  readonly task: 'optional' | 'required' | undefined
}

function createTool(
  { entry, isBlocked, isNew, task }: ReviewedTool,
  fullName: string,
  path: string,
  server: UpstreamServer,
): AppTool {
  const { name, title, description, annotations = {}, inputSchema, outputSchema } = entry
  return {
    name,
    fullName,
    ...(title === undefined ? {} : { title }),
    about: description,
    listed: rewriteToolMeta(path, entry),
    annotations,
    aliases: { bare: [], full: [], args: {} },
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(isNew ? { unlisted: true } : {}),
    // A client without tasks waits for the result.
    ...(task === undefined ? {} : { task: 'optional' }),
    ...(matchesPattern(name, server.config.core) ? { isCore: true } : {}),
    example: { args: {} },
    async call(args, ctx) {
      if (isBlocked) throw createChangedError('tool', name, server)
      const method = task === 'required' ? 'tools/call as task' : 'tools/call'
      const params = { name, arguments: isObject(args) ? args : {} }
      const result = await withLogin(server, ctx, () => server.request(method, params, ctx))
      if (isAsk(result)) return result
      requireItems(result, 'content', { tool: name }, server)
      return rewriteResult(path, result, 'content') as unknown as CallToolResult
    },
  }
}

function createPrompts(
  app: string,
  path: string,
  server: UpstreamServer,
  reviewedCatalogue: ReviewedCatalogue | undefined,
): readonly AppPrompt[] {
  const entries = (reviewedCatalogue?.prompts ?? []).filter(({ isNew }) => !isNew)
  const uniqueEntries = removeDuplicates(
    entries.map((item) => ({ ...item, entry: normalizePrompt(item.entry), name: item.entry.name })),
  )
  const names = chooseWireNames(
    app,
    uniqueEntries.map(({ name }) => name),
    digest,
  )
  return uniqueEntries.map((item) => createPrompt(item, names.get(item.name) as string, path, server))
}

function createPrompt(
  { entry, isBlocked }: Reviewed<ListedPrompt>,
  fullName: string,
  path: string,
  server: UpstreamServer,
): AppPrompt {
  const { name, description = '', arguments: args = [] } = entry
  return {
    name,
    fullName,
    about: description,
    listed: entry,
    arguments: args,
    complete: async () => [],
    completeTyped: (argument, typed, context, ctx) =>
      complete(
        server,
        { ref: { type: 'ref/prompt', name }, argument: { name: argument, value: typed }, context },
        ctx,
      ),
    messages: async () => [],
    async get(args, ctx) {
      if (isBlocked) throw createChangedError('prompt', name, server)
      const params = { name, arguments: isObject(args) ? args : {} }
      const result = await withLogin(server, ctx, () => server.request('prompts/get', params, ctx))
      if (isAsk(result)) return result
      requireItems(result, 'messages', { prompt: name }, server)
      return rewriteResult(path, result, 'messages') as unknown as PromptResult
    },
  }
}

/** Returns one resource, which matches all URIs of the server. */
function createResources(path: string, server: UpstreamServer): readonly AppResource[] {
  const { catalogue } = server
  if (catalogue?.capabilities.resources === undefined) return []
  const { resources, templates } = catalogue
  const listedResources = resources.map((item) => ({
    ...normalizeResource(item),
    uri: toCausewayUri(path, item.uri),
  })) as readonly Resource[]
  const readAll = async (
    { uri = '' }: Variables,
    ctx: ToolContext,
  ): Promise<readonly ResourceContents[] | Ask> => {
    const result = await withLogin(server, ctx, () => server.request('resources/read', { uri }, ctx))
    if (isAsk(result)) return result
    return requireItems(result, 'contents', { resource: uri }, server).map((item) => ({
      ...item,
      uri: toCausewayUri(path, String(item.uri)),
    })) as unknown as ResourceContents[]
  }
  const listedTemplates = templates.map((item) => ({
    ...normalizeResource(item),
    uriTemplate: toCausewayUri(path, item.uriTemplate),
  }))
  return [
    {
      template: {
        text: toCausewayUri(path, ''),
        scheme: `causeway-mcp+${path}`,
        variables: [],
        match: (uri) => {
          const upstreamUri = toUpstreamUri(path, uri)
          return upstreamUri === undefined ? undefined : { uri: upstreamUri }
        },
      },
      name: path,
      about: `Resources of ${server.config.name}`,
      mimeType: 'application/octet-stream',
      templates: listedTemplates,
      list: async () => listedResources,
      complete: async () => [],
      completeTyped: ({ template, name, typed }, context, ctx) => {
        const ref = { type: 'ref/resource', uri: toUpstreamUri(path, template) ?? template }
        return complete(server, { ref, argument: { name, value: typed }, context }, ctx)
      },
      read: async (uri, variables, ctx) => {
        const contents = await readAll(variables, ctx)
        return (isAsk(contents) ? undefined : contents[0]) ?? { uri, text: '' }
      },
      readAll: (_, variables, ctx) => readAll(variables, ctx),
      subscribe: (uri, origin) => server.subscribe(toUpstreamUri(path, uri) ?? uri, origin),
    },
  ]
}

async function complete(server: UpstreamServer, params: JsonObject, ctx: ToolContext): Promise<Completion> {
  if (server.catalogue?.capabilities.completions === undefined)
    return { values: [], total: 0, hasMore: false }
  const { context, ...rest } = params
  const hasContext = isObject(context) && Object.keys(context).length > 0
  const result = await server.request(
    'completion/complete',
    hasContext ? { ...rest, context: { arguments: context } } : rest,
    ctx,
  )
  const { completion } = isObject(result) ? result : {}
  const { values, total, hasMore } = isObject(completion) ? completion : {}
  const texts = Array.isArray(values) ? values.filter((item) => typeof item === 'string') : []
  return {
    values: texts,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof hasMore === 'boolean' ? { hasMore } : {}),
  }
}

/** Members of MCP 2026-07-28 that Causeway's transports add. */
const transportMembers = ['resultType', 'ttlMs', 'cacheScope']

/** Replaces the server's resource URIs with Causeway's. Preserves unknown members. */
function rewriteResult(path: string, result: unknown, list: 'content' | 'messages'): JsonObject {
  if (!isObject(result)) return { [list]: [] }
  const rest: Record<string, unknown> = { ...result }
  for (const member of transportMembers) delete rest[member]
  const blocks = Array.isArray(result[list]) ? result[list] : []
  const rewrittenBlocks = blocks.map((item: unknown) =>
    list === 'messages' && isObject(item)
      ? { ...item, content: rewriteBlock(path, item.content) }
      : rewriteBlock(path, item),
  )
  return { ...rest, [list]: rewrittenBlocks }
}

const blockMembers: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: ['resource'],
}

/**
 * Returns the items of a list, which older servers may omit. Throws `UPSTREAM_INVALID` for a result that clients
 * would reject as a whole.
 */
function requireItems(
  result: unknown,
  list: keyof typeof isItem,
  requested: JsonObject,
  { config }: UpstreamServer,
): readonly JsonObject[] {
  const { [list]: items = [] } = isObject(result) ? result : {}
  const invalidIndex = Array.isArray(items) ? items.findIndex((item) => !isItem[list](item)) : 0
  if (invalidIndex === -1) return items as JsonObject[]
  const [itemPath, value] = Array.isArray(items)
    ? [`${list}[${invalidIndex}]`, items[invalidIndex]]
    : [list, items]
  const message = `${config.name} returned a malformed ${itemPath} from ${Object.values(requested)[0]}`
  throw new GatewayError('UPSTREAM_INVALID', message, {
    data: { server: config.name, ...requested, value: String(JSON.stringify(value)).slice(0, maxShownValue) },
  })
}

const maxShownValue = 500

const isBlock = (block: unknown): boolean =>
  isObject(block) &&
  blockMembers[String(block.type)]?.every((member) =>
    member === 'resource' ? isResource(block.resource) : typeof block[member] === 'string',
  ) === true

const isResource = (resource: unknown): boolean =>
  isObject(resource) &&
  typeof resource.uri === 'string' &&
  (typeof resource.text === 'string' || typeof resource.blob === 'string')

const isPromptMessage = (message: unknown): boolean =>
  isObject(message) && (message.role === 'user' || message.role === 'assistant') && isBlock(message.content)

const isItem = { content: isBlock, messages: isPromptMessage, contents: isResource }

function createChangedError(kind: 'tool' | 'prompt', name: string, { config }: UpstreamServer): Error {
  return new GatewayError(
    'TOOL_CHANGED',
    `the ${kind} ${name} of ${config.name} differs from the approved one`,
    {
      remedy: `check the difference with causeway mcp approve ${config.name} --diff, then approve it`,
      data: { server: config.name, [kind]: name },
    },
  )
}
