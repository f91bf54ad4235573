import { isDeepStrictEqual } from 'node:util'
import { type HostedServer, parseServer } from '@causeway/gateway/config'
import { isLoopback } from '../../../http/security/admission.ts'
import { type ConvertedEntry, convertEntry } from './convert-entry.ts'
import { moveSecrets } from './move-secrets.ts'
import type { FoundServer } from './sources.ts'

interface ImportedServer extends HostedServer {
  readonly file: string
  readonly entry: ConvertedEntry
  readonly secrets: Readonly<Record<string, string>>
}

interface SkippedServer {
  readonly name: string
  readonly file: string
  readonly reason: string
}

interface ImportContext {
  /** Names in `mcp.json`, which are not overwritten. */
  readonly existingNames: ReadonlySet<string>
  readonly secrets: Readonly<Record<string, string>>
  /** This server's port. Entries with it are not imported. */
  readonly port: number
  readonly path: string | undefined
  readonly onlyNames: ReadonlySet<string> | undefined
}

/** Selects servers to import. A server in several files is imported once. */
export function planImport(foundServers: readonly FoundServer[], context: ImportContext) {
  const importedServers: ImportedServer[] = []
  const skippedServers: SkippedServer[] = []
  let secrets = context.secrets
  for (const server of foundServers) {
    if (context.onlyNames !== undefined && !context.onlyNames.has(server.name)) continue
    const result = planServer(server, { ...context, secrets }, importedServers)
    if ('reason' in result) skippedServers.push(result)
    else {
      importedServers.push(result)
      secrets = { ...secrets, ...result.secrets }
    }
  }
  return { importedServers, skippedServers }
}

function planServer(
  { name: originalName, raw, file, client, project }: FoundServer,
  { existingNames, secrets: existingSecrets, port, path }: ImportContext,
  importedServers: readonly ImportedServer[],
): ImportedServer | SkippedServer {
  const skip = (reason: string): SkippedServer => ({ name: originalName, file, reason })
  const convertedEntry = convertEntry(raw, client)
  if (typeof convertedEntry === 'string') return skip(convertedEntry)
  if (isCauseway(convertedEntry, port)) return skip('it is Causeway itself')
  const name = toServerName(originalName)
  if (existingNames.has(name)) return skip('mcp.json has a server of this name')
  const locatedEntry = addLocation(convertedEntry, { project, path })
  const movedSecrets = moveSecrets(name, locatedEntry, existingSecrets)
  const duplicate = importedServers.find((server) => server.name === name)
  if (duplicate !== undefined)
    return skip(
      isSameServer(duplicate.entry, movedSecrets.entry)
        ? `the same server as in ${duplicate.file}`
        : `another server of this name is in ${duplicate.file}; import it from its file with another name`,
    )
  const parsed = parseServer(name, movedSecrets.entry)
  return typeof parsed === 'string' ? skip(parsed) : { ...parsed, ...movedSecrets, file }
}

/** Adds the project's folder and the `PATH` in which the command is found. */
function addLocation(
  entry: ConvertedEntry,
  { project, path }: { readonly project: string | undefined; readonly path: string | undefined },
): ConvertedEntry {
  if (entry.command === undefined) return entry
  return {
    ...entry,
    ...(project !== undefined && entry.cwd === undefined && { cwd: project }),
    causeway: { ...entry.causeway, ...(path !== undefined && { path }) },
  }
}

const isSameServer = (a: ConvertedEntry, b: ConvertedEntry): boolean =>
  isDeepStrictEqual([a.command, a.args, a.url, a.env], [b.command, b.args, b.url, b.env])

const toServerName = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9._@/ -]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'server'

function isCauseway({ command = '', args = [], url }: ConvertedEntry, port: number): boolean {
  const isBridge = (word: string): boolean =>
    /(^|[\\/])causeway-mcp-bridge(@[\w.-]+)?$|(^|[\\/])bridge[\\/](run\.mjs|dist[\\/]bridge\.js)$/.test(word)
  if ([command, ...args].some(isBridge)) return true
  const parsed = url === undefined ? null : URL.parse(url)
  return (
    parsed !== null && isLoopback(parsed.hostname.replace(/^\[|\]$/g, '')) && Number(parsed.port) === port
  )
}
