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
  readonly existing: ReadonlySet<string>
  readonly secrets: Readonly<Record<string, string>>
  /** Port of this server. Entries that name it are not imported. */
  readonly port: number
  readonly path: string | undefined
  readonly only: ReadonlySet<string> | undefined
}

/** Selects servers to import. A server in several files is imported once. */
export function planImport(found: readonly FoundServer[], context: ImportContext) {
  const imported: ImportedServer[] = []
  const skipped: SkippedServer[] = []
  let secrets = context.secrets
  for (const server of found) {
    if (context.only !== undefined && !context.only.has(server.name)) continue
    const planned = planServer(server, { ...context, secrets }, imported)
    if ('reason' in planned) skipped.push(planned)
    else {
      imported.push(planned)
      secrets = { ...secrets, ...planned.secrets }
    }
  }
  return { imported, skipped }
}

function planServer(
  { name: given, raw, file, client, project }: FoundServer,
  { existing, secrets: taken, port, path }: ImportContext,
  imported: readonly ImportedServer[],
): ImportedServer | SkippedServer {
  const skip = (reason: string): SkippedServer => ({ name: given, file, reason })
  const converted = convertEntry(raw, client)
  if (typeof converted === 'string') return skip(converted)
  if (isCauseway(converted, port)) return skip('it is Causeway itself')
  const name = toServerName(given)
  if (existing.has(name)) return skip('mcp.json has a server of this name')
  const placed = place(converted, { project, path })
  const moved = moveSecrets(name, placed, taken)
  const same = imported.find((one) => one.name === name)
  if (same !== undefined)
    return skip(
      isSameServer(same.entry, moved.entry)
        ? `the same server as in ${same.file}`
        : `another server of this name is in ${same.file}; import it from its file with another name`,
    )
  const parsed = parseServer(name, moved.entry)
  return typeof parsed === 'string' ? skip(parsed) : { ...parsed, ...moved, file }
}

/** Adds the project's folder and the `PATH` in which the command is found. */
function place(
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

const isSameServer = (one: ConvertedEntry, other: ConvertedEntry): boolean =>
  isDeepStrictEqual(
    [one.command, one.args, one.url, one.env],
    [other.command, other.args, other.url, other.env],
  )

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
