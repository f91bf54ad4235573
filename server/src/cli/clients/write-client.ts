import { type CommandCall, createUsageError, exitCodes } from '../command.ts'
import { readIfExists, replaceFile } from '../replace-file.ts'
import { addEntry, formatSnippet } from './client-file.ts'
import { type Client, type ConfigScope, clients, findConfigFile } from './clients.ts'
import { Connections } from './connections.ts'
import { createEntry } from './server-entry.ts'

interface Call extends Pick<CommandCall, 'config' | 'cwd' | 'env' | 'machine' | 'print' | 'note'> {
  readonly flags: {
    readonly scope: string | undefined
    readonly view?: string | undefined
    readonly autostart: boolean
    readonly 'dry-run': boolean
    readonly print: boolean
  }
}

interface WriteOptions {
  readonly name: string
  readonly command: string
  readonly defaultScope: ConfigScope
}

export function writeClient(
  { name, command, defaultScope }: WriteOptions,
  { flags, config, cwd, env, machine, print, note }: Call,
): number {
  const { scope: scopeText = defaultScope, view, autostart } = flags
  const client = findClient(name)
  const scope = parseScope(scopeText, command)
  if (view !== undefined && !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(view))
    throw createUsageError(command, `--view must be full, core or the name of a profile, got "${view}"`)
  const entry = createEntry({ config: config(), env, autostart, view })
  if (flags.print) {
    print(formatSnippet(client, entry).trimEnd())
    return 0
  }
  const path = findConfigFile(client, scope, { cwd, machine })
  if (path === undefined) throw createUsageError(command, `${client.title} has no configuration of a project`)
  const previousText = readIfExists(path)
  const text = addEntry(previousText, { path, client, entry, project: scope === 'project' ? cwd : undefined })
  if (flags['dry-run']) {
    print(text.trimEnd())
    note(`nothing written: ${path}`)
    return 0
  }
  if (text === previousText) {
    print(`unchanged: ${path}`)
    return 0
  }
  const backup = replaceFile(path, {
    text,
    previousText,
    mode: scope === 'user' ? 0o600 : 0o644,
  })
  new Connections(config().dataDir).record(name, { path, text, backup })
  print(`written: ${path}`)
  if (backup !== undefined) note(`backup: ${backup}`)
  note(`${client.title}: ${client.next[scope]}`)
  return 0
}

export function undoClient(name: string, { flags, config, print, note }: Call): number {
  const isDryRun = flags['dry-run']
  const undoResult = new Connections(config().dataDir).undo(name, findClient(name), { write: !isDryRun })
  if (undoResult === undefined) {
    note(`nothing to undo: causeway connect ${name} has written no file`)
    return exitCodes.failure
  }
  const { path, isRestored, text } = undoResult
  if (isDryRun) {
    print(text?.trimEnd() ?? '')
    note(`nothing written: ${path}`)
  } else if (text === undefined) print(`deleted: ${path}`)
  else print(`${isRestored ? 'restored' : 'entry reverted, because the file has changed since'}: ${path}`)
  return 0
}

function findClient(name: string): Client {
  const client = clients[name]
  if (client === undefined) throw new TypeError(`no such client: ${name}`)
  return client
}

function parseScope(scope: string, command: string): ConfigScope {
  if (scope === 'project' || scope === 'user') return scope
  throw createUsageError(command, `--scope must be project or user, got "${scope}"`)
}
