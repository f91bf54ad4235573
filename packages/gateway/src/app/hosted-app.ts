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
import { rewriteBlock, rewriteToolMeta, toOwnUri, toUpstreamUri } from '../domain/resource-uris.ts'
import { GatewayError } from '../errors.ts'
import type { UpstreamServer } from '../instances/upstream-server.ts'

const maxInstructionsLength = 2000

export interface HostedAppOptions {
  readonly name: string
  readonly server: UpstreamServer
  /** Absent until the server has started once. */
  readonly reviewed: ReviewedCatalogue | undefined
  health(): Readonly<Record<string, unknown>>
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export function createHostedApp({ name, server, reviewed, health }: HostedAppOptions): App {
  const { config } = server
  const path = name.toLowerCase()
  const about = `The tools of the MCP server ${config.name}.`
  const instructions = reviewed?.instructions.trim() ?? ''
  return {
    name,
    about,
    instructions: instructions === '' ? about : instructions.slice(0, maxInstructionsLength),
    data: [],
    errors: GatewayError.definitions,
    tools: createTools(name, path, server, reviewed),
    prompts: createPrompts(name, path, server, reviewed),
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
  reviewed: ReviewedCatalogue | undefined,
): readonly AppTool[] {
  const { allow, deny } = server.config.tools
  const isEnabled = (name: string): boolean =>
    (allow === undefined || matchesPattern(name, allow)) && !matchesPattern(name, deny)
  // Read from the catalogue, because pins omit `execution`.
  const tasks = new Map(server.catalogue?.tools.map((tool) => [tool.name, getTaskSupport(tool)]))
  const entries = (reviewed?.tools ?? []).flatMap((one) => {
    const entry = normalizeTool(one.entry)
    if (entry === undefined || !isEnabled(entry.name)) return []
    return [{ ...one, entry, name: entry.name, task: tasks.get(entry.name) }]
  })
  const unique = removeDuplicates(entries)
  const names = chooseWireNames(
    app,
    unique.map(({ name }) => name),
    digest,
  )
  return unique.map((one) => createTool(one, names.get(one.name) as string, path, server))
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
  reviewed: ReviewedCatalogue | undefined,
): readonly AppPrompt[] {
  const entries = (reviewed?.prompts ?? []).filter(({ isNew }) => !isNew)
  const unique = removeDuplicates(
    entries.map((one) => ({ ...one, entry: normalizePrompt(one.entry), name: one.entry.name })),
  )
  const names = chooseWireNames(
    app,
    unique.map(({ name }) => name),
    digest,
  )
  return unique.map((one) => createPrompt(one, names.get(one.name) as string, path, server))
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
  const listed = resources.map((one) => ({
    ...normalizeResource(one),
    uri: toOwnUri(path, one.uri),
  })) as readonly Resource[]
  const readAll = async (
    { uri = '' }: Variables,
    ctx: ToolContext,
  ): Promise<readonly ResourceContents[] | Ask> => {
    const result = await withLogin(server, ctx, () => server.request('resources/read', { uri }, ctx))
    if (isAsk(result)) return result
    return requireItems(result, 'contents', { resource: uri }, server).map((one) => ({
      ...one,
      uri: toOwnUri(path, String(one.uri)),
    })) as unknown as ResourceContents[]
  }
  const listedTemplates = templates.map((one) => ({
    ...normalizeResource(one),
    uriTemplate: toOwnUri(path, one.uriTemplate),
  }))
  return [
    {
      template: {
        text: toOwnUri(path, ''),
        scheme: `causeway-mcp+${path}`,
        variables: [],
        match: (uri) => {
          const upstream = toUpstreamUri(path, uri)
          return upstream === undefined ? undefined : { uri: upstream }
        },
      },
      name: path,
      about: `Resources of ${server.config.name}`,
      mimeType: 'application/octet-stream',
      templates: listedTemplates,
      list: async () => listed,
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
  const texts = Array.isArray(values) ? values.filter((one) => typeof one === 'string') : []
  return {
    values: texts,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof hasMore === 'boolean' ? { hasMore } : {}),
  }
}

/** Members of MCP 2026-07-28 that Causeway's transports add. */
const ownMembers = ['resultType', 'ttlMs', 'cacheScope']

/** Replaces the server's resource URIs with Causeway's. Preserves unknown members. */
function rewriteResult(path: string, result: unknown, list: 'content' | 'messages'): JsonObject {
  if (!isObject(result)) return { [list]: [] }
  const rest: Record<string, unknown> = { ...result }
  for (const member of ownMembers) delete rest[member]
  const blocks = Array.isArray(result[list]) ? result[list] : []
  const rewritten = blocks.map((one: unknown) =>
    list === 'messages' && isObject(one)
      ? { ...one, content: rewriteBlock(path, one.content) }
      : rewriteBlock(path, one),
  )
  return { ...rest, [list]: rewritten }
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
  const wrong = Array.isArray(items) ? items.findIndex((item) => !isItem[list](item)) : 0
  if (wrong === -1) return items as JsonObject[]
  const [what, value] = Array.isArray(items) ? [`${list}[${wrong}]`, items[wrong]] : [list, items]
  const message = `${config.name} returned a malformed ${what} from ${Object.values(requested)[0]}`
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
