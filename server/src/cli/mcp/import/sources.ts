import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { JsonEditError, readJsonValue } from '@causeway/gateway/config'
import { isObject, type Machine } from '@causeway/protocol'
import { ServerError } from '../../../errors.ts'
import { type Client, clients, findConfigFile } from '../../clients/clients.ts'
import { readTomlValue } from '../../clients/edit-toml.ts'
import { readIfExists } from '../../replace-file.ts'

export interface FoundServer {
  readonly name: string
  readonly raw: unknown
  readonly file: string
  /** `undefined` if a file was given. */
  readonly client?: string
  readonly project?: string
}

interface Location {
  readonly cwd: string
  readonly machine: Machine
}

const serverKeys = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'] as const

/**
 * Reads the servers of a client, a file, or every client. Throws `CLIENT_FILE_REFUSED` for a missing or malformed
 * file.
 */
export function findServers(source: string | undefined, location: Location): readonly FoundServer[] {
  const names = source === undefined ? Object.keys(clients) : [source]
  return names.flatMap((name) => {
    const client = clients[name]
    return client === undefined ? readFile(name, location) : readClient(name, client, location)
  })
}

function readClient(name: string, client: Client, location: Location): readonly FoundServer[] {
  const files = (['user', 'project'] as const).map((scope) => findConfigFile(client, scope, location))
  return [...new Set(files)].flatMap((file) =>
    file !== undefined && existsSync(file)
      ? readServers(file).map((server) => ({ ...server, client: name }))
      : [],
  )
}

function readFile(path: string, { cwd }: Location): readonly FoundServer[] {
  const file = resolve(cwd, path)
  if (!existsSync(file))
    throw new ServerError('CLIENT_FILE_REFUSED', `neither a client nor a file: ${path}`, {
      data: { path },
      remedy: `use a file, or one of ${Object.keys(clients).join(', ')}`,
    })
  return readServers(file)
}

function readServers(file: string): readonly FoundServer[] {
  const config = parse(file)
  const ownServers = serverKeys.flatMap((key) => listServers(config[key], file))
  const projects = isObject(config.projects) ? Object.entries(config.projects) : []
  const projectServers = projects.flatMap(([project, value]) =>
    listServers(isObject(value) ? value.mcpServers : undefined, file).map((server) => ({
      ...server,
      project,
    })),
  )
  return [...ownServers, ...projectServers]
}

const listServers = (servers: unknown, file: string): readonly FoundServer[] =>
  isObject(servers) ? Object.entries(servers).map(([name, raw]) => ({ name, raw, file })) : []

function parse(file: string): Record<string, unknown> {
  const text = (readIfExists(file) ?? '').replace(/^\uFEFF/, '')
  if (text.trim() === '') return {}
  try {
    const isToml = extname(file) === '.toml'
    const value = isToml ? readTomlValue(text, []) : readJsonValue(text, [], { comments: true })
    if (isObject(value)) return value
    throw new JsonEditError('not an object')
  } catch (error) {
    if (!(error instanceof JsonEditError)) throw error
    throw new ServerError('CLIENT_FILE_REFUSED', `${file} was not imported: ${error.message}`, {
      data: { path: file },
      remedy: 'correct the file, or import the other clients by name',
    })
  }
}
