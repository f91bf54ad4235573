import { z } from 'zod'
import { type Share, selectDefaultConcurrency, selectDefaultShare, shares } from './default-share.ts'
import type { Endpoint } from './endpoint.ts'

export type PinMode = 'block' | 'warn' | 'off'

/** A server declared in `mcp.json`. Its texts may contain variables. */
export interface HostedServer {
  readonly name: string
  readonly endpoint: Endpoint
  /** Default: derived from the server's name. */
  readonly app: string | undefined
  readonly share: Share
  /** Time without calls after which a process is stopped; 0 means never. */
  readonly idleMs: number
  /** Maximum concurrent calls per process. */
  readonly concurrency: number
  readonly start: 'lazy' | 'eager'
  /** Names, or patterns with `*`. `deny` takes precedence. */
  readonly tools: { readonly allow: readonly string[] | undefined; readonly deny: readonly string[] }
  /** Tools in the core view. */
  readonly core: readonly string[]
  readonly pin: PinMode
  readonly enabled: boolean
  /** Whether the server must not start before `causeway mcp approve`. */
  readonly needsApproval: boolean
  /** `PATH` at the time of `causeway mcp add`. */
  readonly path: string | undefined
  readonly oauth: OAuthOptions | undefined
}

export type OAuthOptions = z.output<typeof oauthSchema>

const oauthSchema = z.looseObject({
  /** A client registered with the authorization server. */
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** Scopes separated by spaces. */
  scope: z.string().min(1).optional(),
  /** Resource indicator (RFC 8707) in place of the server's URL. */
  resource: z.string().min(1).optional(),
})

const patternsSchema = z.array(z.string().min(1)).readonly()

/** The key `causeway` of an entry, which other clients ignore. */
const optionsSchema = z.looseObject({
  app: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,29}$/, 'an app name is in PascalCase, such as MyFiles')
    .optional(),
  share: z.enum(shares).optional(),
  idleMs: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(600_000),
  concurrency: z.int().min(1).max(256).optional(),
  start: z.enum(['lazy', 'eager']).default('lazy'),
  tools: z
    .looseObject({ allow: patternsSchema.optional(), deny: patternsSchema.default([]) })
    .default({ deny: [] }),
  core: patternsSchema.default([]),
  pin: z.enum(['block', 'warn', 'off']).default('block'),
  enabled: z.boolean().default(true),
  needsApproval: z.boolean().default(false),
  path: z.string().optional(),
  oauth: oauthSchema.optional(),
})

const environmentSchema = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'),
  z.string(),
)

const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not the name of a header'),
  z.string(),
)

const causewaySchema = optionsSchema.prefault({})

const stdioSchema = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: environmentSchema.default({}),
  cwd: z.string().min(1).optional(),
  causeway: causewaySchema,
})

const httpSchema = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'sse']).default('http'),
  url: z.string().min(1),
  headers: headers.default({}),
  causeway: causewaySchema,
})

export const serverNamePattern = /^[A-Za-z0-9][A-Za-z0-9._@/ -]{0,63}$/

/** Returns the server or, if the entry is invalid, the problem as text. */
export function parseServer(name: string, entry: unknown): HostedServer | string {
  if (!serverNamePattern.test(name))
    return 'a name has 1 to 64 letters, digits, spaces and . _ @ / -, and starts with a letter or a digit'
  const isHttp = typeof entry === 'object' && entry !== null && 'url' in entry
  if (isHttp && 'command' in entry) return 'an entry has either "command" or "url", not both'
  const result = (isHttp ? httpSchema : stdioSchema).safeParse(entry)
  if (!result.success) return describeProblem(result.error)
  const { causeway: options } = result.data
  const endpoint = toEndpoint(result.data)
  return {
    name,
    endpoint,
    app: options.app,
    share: options.share ?? selectDefaultShare(endpoint),
    idleMs: options.idleMs,
    concurrency: options.concurrency ?? selectDefaultConcurrency(endpoint),
    start: options.start,
    tools: { allow: options.tools.allow, deny: options.tools.deny },
    core: options.core,
    pin: options.pin,
    enabled: options.enabled,
    needsApproval: options.needsApproval,
    path: options.path,
    oauth: options.oauth,
  }
}

function toEndpoint(entry: z.output<typeof stdioSchema> | z.output<typeof httpSchema>): Endpoint {
  if (isHttpEntry(entry))
    return { kind: entry.type === 'sse' ? 'sse' : 'http', url: entry.url, headers: entry.headers }
  const { command, args, env, cwd } = entry
  return { kind: 'stdio', command, args, env, cwd }
}

const isHttpEntry = (
  entry: z.output<typeof stdioSchema> | z.output<typeof httpSchema>,
): entry is z.output<typeof httpSchema> => 'url' in entry

/** Does not quote values, which may be secret. */
export function describeProblem(error: z.ZodError): string {
  const [issue] = error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return path === '' ? (issue?.message ?? 'invalid') : `${path}: ${issue?.message}`
}
