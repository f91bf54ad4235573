import { join } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { GatewayError } from '../errors.ts'
import { describeProblem, type HostedServer, parseServer } from './domain/server-schema.ts'
import { JsonEditError, readJsonValue } from './edit-json.ts'
import { readPrivateFile } from './private-file.ts'

export const configFileName = 'mcp.json'

export interface ServerProblem {
  readonly name: string
  readonly error: CausewayError
}

export interface GatewayConfig {
  /** In file order. */
  readonly servers: readonly HostedServer[]
  /** Invalid entries, which do not affect the others. */
  readonly problems: readonly ServerProblem[]
  /** Tool patterns by profile name. */
  readonly profiles: Readonly<Record<string, readonly string[]>>
}

const maxBytes = 4 * 2 ** 20

/** Restricted, because profile names appear in URLs. */
const profileNameSchema = z
  .string()
  .regex(/^(?!(?:full|core)$)[a-z0-9][a-z0-9_-]{0,63}$/, 'a profile has lower-case letters, digits, _ and -')

const fileSchema = z.looseObject({
  mcpServers: z.record(z.string(), z.unknown()).default({}),
  profiles: z.record(profileNameSchema, z.array(z.string().min(1)).readonly()).default({}),
})

export const emptyConfig: GatewayConfig = { servers: [], problems: [], profiles: {} }

/** Returns an empty configuration if there is no file. Throws `GATEWAY_CONFIG_INVALID`. */
export function readGatewayConfig(dataDir: string): GatewayConfig {
  const path = join(dataDir, configFileName)
  const text = readPrivateFile(path, maxBytes)
  return text === undefined ? emptyConfig : parseGatewayConfig(text, path)
}

/** Permits comments and trailing commas. Throws `GATEWAY_CONFIG_INVALID`. */
export function parseGatewayConfig(text: string, path: string): GatewayConfig {
  const { mcpServers, profiles } = parseFile(text, path)
  const parsed = Object.entries(mcpServers).map(([name, entry]) => ({
    name,
    result: parseServer(name, entry),
  }))
  const problems = parsed.flatMap(({ name, result }) =>
    typeof result === 'string' ? [{ name, error: createInvalidEntryError(name, result, path) }] : [],
  )
  const servers = parsed.flatMap(({ result }) => (typeof result === 'string' ? [] : [result]))
  return { servers, problems, profiles }
}

function parseFile(text: string, path: string): z.output<typeof fileSchema> {
  if (text.trim() === '') return fileSchema.parse({})
  let value: unknown
  try {
    value = readJsonValue(text, [], { comments: true })
  } catch (error) {
    if (error instanceof JsonEditError) throw createInvalidFileError(error.message, path)
    throw error
  }
  const result = fileSchema.safeParse(value)
  if (result.success) return result.data
  throw createInvalidFileError(describeProblem(result.error), path)
}

const createInvalidFileError = (problem: string, path: string): CausewayError =>
  new GatewayError('GATEWAY_CONFIG_INVALID', `${problem}: ${path}`, { data: { path } })

const createInvalidEntryError = (name: string, problem: string, path: string): CausewayError =>
  new GatewayError('GATEWAY_CONFIG_INVALID', `the server "${name}" is invalid: ${problem}: ${path}`, {
    data: { path, server: name },
  })
