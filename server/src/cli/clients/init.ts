import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '@causeway/protocol'
import { type Config, defaultDataDir } from '../../config/config.ts'
import { ServerError } from '../../errors.ts'
import { defineCommand, usageError } from '../command.ts'
import { readIfExists, replaceFile } from '../replace-file.ts'
import { bridgeCommand, findBridge } from './bridge-program.ts'
import { type Client, type ConfigScope, clients } from './clients.ts'

const serverName = 'causeway'
const defaultPort = 3100

export const initCommand = defineCommand({
  name: 'init',
  about: 'write the configuration of Claude Code, VS Code or Cursor',
  forms: ['claude|vscode|cursor'],
  details: `Adds or updates the server \`causeway\` and leaves everything else in the file unchanged, comments included. The client
starts the bridge that belongs to this server. A backup of the old file is written next to it.`,
  flags: {
    scope: { value: '<scope>', about: 'project: for this folder (default); user: for every folder' },
    autostart: { about: 'the bridge starts the server if none is running' },
    'dry-run': { about: 'print the resulting file, and write nothing' },
    print: { about: 'print the lines to paste, and write nothing' },
  },
  settings: ['--port', '--token-file', '--data-dir'],
  exits: { 1: 'the file is not valid JSON or would lose comments; it is unchanged' },
  examples: [
    'causeway init claude',
    'causeway init vscode --dry-run',
    'causeway init cursor --scope user --autostart',
  ],
  async run({ args: [name = ''], flags, config, cwd, env, print, note }) {
    const client = clients[name] as Client
    const scope = parseScope(flags.scope)
    const entry = createEntry(config(), env, flags.autostart)
    if (flags.print) {
      print(formatSnippet(client, entry))
      return 0
    }
    const path = client.file(scope, { cwd, env })
    const before = readIfExists(path)
    const text = await addEntry(before, {
      path,
      client,
      entry,
      project: scope === 'project' ? cwd : undefined,
    })
    if (flags['dry-run']) {
      print(text.trimEnd())
      note(`nothing written: ${path}`)
      return 0
    }
    if (text === before) {
      print(`unchanged: ${path}`)
      return 0
    }
    const backup = replaceFile(path, { text, before, mode: scope === 'user' ? 0o600 : 0o644 })
    print(`written: ${path}`)
    if (backup !== undefined) note(`backup: ${backup}`)
    note(`${client.title}: ${client.next[scope]}`)
    return 0
  },
})

function parseScope(scope = 'project'): ConfigScope {
  if (scope === 'project' || scope === 'user') return scope
  throw usageError('init', `--scope must be project or user, got "${scope}"`)
}

interface ServerEntry {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Omits defaults of the bridge. */
function createEntry(config: Config, env: NodeJS.ProcessEnv, autostart: boolean): ServerEntry {
  const { port, tokenFile, dataDir } = config
  const [command = '', ...bridgeArgs] = bridgeCommand(findBridge())
  const args = [
    ...bridgeArgs,
    ...(port === defaultPort || port === 0 ? [] : ['--url', `http://localhost:${port}/mcp`]),
    ...(tokenFile === undefined ? [] : ['--token-file', tokenFile]),
    ...(autostart ? ['--autostart'] : []),
  ]
  const needsDataDir = autostart && dataDir !== defaultDataDir(env)
  return { type: 'stdio', command, args, ...(needsDataDir && { env: { CAUSEWAY_DATA_DIR: dataDir } }) }
}

const formatSnippet = ({ key }: Client, entry: ServerEntry): string =>
  JSON.stringify({ [key]: { [serverName]: entry } }, null, 2)

interface EntryTarget {
  readonly path: string
  readonly client: Client
  readonly entry: ServerEntry
  /** Working directory of servers in a project file. */
  readonly project: string | undefined
}

/** Throws `CLIENT_FILE_REFUSED`. */
async function addEntry(
  before: string | undefined,
  { path, client, entry, project }: EntryTarget,
): Promise<string> {
  if (before === undefined || before.trim() === '') return `${formatSnippet(client, entry)}\n`
  const { JsonEditError, readJsonValue, setJsonValue } = await import('@causeway/gateway/config')
  const byteOrderMark = before.startsWith('\uFEFF') ? '\uFEFF' : ''
  const entryPath = [client.key, serverName]
  try {
    let text = before.slice(byteOrderMark.length)
    const old = readJsonValue(text, entryPath, client)
    const updated = mergeEntry(old, preserveRelativePath(old, entry, project))
    for (const { path, value } of listChanges(old, updated, entryPath))
      text = setJsonValue(text, path, value, client)
    return byteOrderMark + text
  } catch (error) {
    if (!(error instanceof JsonEditError)) throw error
    throw new ServerError('CLIENT_FILE_REFUSED', `${path} was not changed: ${error.message}`, {
      data: { path },
      remedy: `correct it, or add these lines by hand:\n${formatSnippet(client, entry)}`,
    })
  }
}

/** Keeps an existing relative path if it leads to this bridge, so that a shared project file stays portable. */
function preserveRelativePath(old: unknown, entry: ServerEntry, project: string | undefined): ServerEntry {
  if (project === undefined || !isObject(old) || !Array.isArray(old.args)) return entry
  const [program, ...more] = old.args as readonly unknown[]
  const isThisBridge =
    old.command === 'node' && typeof program === 'string' && resolve(project, program) === entry.args[0]
  if (!isThisBridge || !isDeepStrictEqual(more, entry.args.slice(1))) return entry
  return { ...entry, command: 'node', args: [program, ...entry.args.slice(1)] }
}

/** Keys of HTTP servers. */
const otherTransportKeys = new Set(['url', 'serverUrl', 'headers', 'headersHelper', 'oauth'])

/** Preserves the user's other keys and environment variables. */
function mergeEntry(old: unknown, entry: ServerEntry): object {
  if (!isObject(old)) return entry
  const own = Object.entries(old).filter(([key]) => !otherTransportKeys.has(key))
  const env = entry.env && { env: { ...(old as { env?: object }).env, ...entry.env } }
  return { ...Object.fromEntries(own), ...entry, ...env }
}

interface Change {
  readonly path: readonly string[]
  readonly value: unknown
}

/** Changes the whole entry only if a key must be removed. */
function listChanges(old: unknown, updated: object, path: readonly string[]): readonly Change[] {
  if (isDeepStrictEqual(old, updated)) return []
  if (!isObject(old) || Object.keys(old).some((key) => !Object.hasOwn(updated, key)))
    return [{ path, value: updated }]
  return Object.entries(updated)
    .filter(([key, value]) => !isDeepStrictEqual(old[key], value))
    .map(([key, value]) => ({ path: [...path, key], value }))
}
