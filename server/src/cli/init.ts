import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CausewayError, isObject } from '@causeway/protocol'
import { type Config, defaultDataDir } from '../config.ts'
import { setValue, valueAt } from '../domain/edit-json-text.ts'
import { type JsonNode, type JsonProblem, readJsonText } from '../domain/json-text.ts'
import { bridgeCommand, findBridge } from './bridge-program.ts'
import { type Client, clients, type Scope } from './clients.ts'
import { command, misuse } from './command.ts'
import { replaceFile, textOf } from './replace-file.ts'

const serverName = 'causeway'
const defaultPort = 3100

export const initCommand = command({
  name: 'init',
  about: 'write the configuration of Claude Code, VS Code or Cursor',
  forms: ['claude|vscode|cursor'],
  details: `It adds the server \`causeway\`, or brings it up to date, and leaves everything else in the file as it is, comments
included. The client starts the bridge that belongs to this server. A copy of the old file stays beside it.`,
  flags: {
    scope: { value: '<scope>', about: 'project: for this folder (default); user: for every folder' },
    autostart: { about: 'the bridge starts the server where none runs' },
    'dry-run': { about: 'print the whole file as it would be, and write nothing' },
    print: { about: 'print the lines to paste, and write nothing' },
  },
  settings: ['--port', '--token-file', '--data-dir'],
  exits: { 1: 'the file is not JSON, or would lose comments; it is as it was' },
  examples: [
    'causeway init claude',
    'causeway init vscode --dry-run',
    'causeway init cursor --scope user --autostart',
  ],
  run({ words: [name = '', ...more], flags, config, cwd, env, say, note }) {
    const client = Object.hasOwn(clients, name) ? clients[name] : undefined
    if (client === undefined || more.length > 0)
      throw misuse('init', `clients are ${Object.keys(clients).join(', ')}: ${[name, ...more].join(' ')}`)
    const scope = scopeOf(flags.scope)
    const entry = entryOf(config(), env, flags.autostart)
    if (flags.print) {
      say(snippet(client, entry))
      return 0
    }
    const path = client.file(scope, { cwd, env })
    const before = textOf(path)
    const text = merged(before, { path, client, entry, folder: scope === 'project' ? cwd : undefined })
    if (flags['dry-run']) {
      say(text.trimEnd())
      note(`nothing written: ${path}`)
      return 0
    }
    if (text === before) {
      say(`unchanged: ${path}`)
      return 0
    }
    const backup = replaceFile(path, { text, before, mode: scope === 'user' ? 0o600 : 0o644 })
    say(`written: ${path}`)
    if (backup !== undefined) note(`as it was: ${backup}`)
    note(`${client.title}: ${client.next[scope]}`)
    return 0
  },
})

function scopeOf(scope = 'project'): Scope {
  if (scope === 'project' || scope === 'user') return scope
  throw misuse('init', `--scope is project or user: ${scope}`)
}

/** How a client starts the bridge. */
interface Entry {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Says no more than differs from what the bridge does by itself. */
function entryOf({ port, tokenFile, dataDir }: Config, env: NodeJS.ProcessEnv, autostart: boolean): Entry {
  const [program = '', ...first] = bridgeCommand(findBridge())
  const args = [
    ...first,
    ...(port === defaultPort || port === 0 ? [] : ['--url', `http://localhost:${port}/mcp`]),
    ...(tokenFile === undefined ? [] : ['--token-file', tokenFile]),
    ...(autostart ? ['--autostart'] : []),
  ]
  const isElsewhere = autostart && dataDir !== defaultDataDir(env)
  return {
    type: 'stdio',
    command: program,
    args,
    ...(isElsewhere ? { env: { CAUSEWAY_DATA_DIR: dataDir } } : {}),
  }
}

const snippet = ({ key }: Client, entry: Entry): string =>
  JSON.stringify({ [key]: { [serverName]: entry } }, null, 2)

interface Merging {
  readonly path: string
  readonly client: Client
  readonly entry: Entry
  /** Where the client starts what a file of the project names. */
  readonly folder: string | undefined
}

/** The text of the file with the server in it; throws `CLIENT_FILE_REFUSED`. */
function merged(before: string | undefined, { path, client, entry, folder }: Merging): string {
  if (before === undefined || before.trim() === '') return `${snippet(client, entry)}\n`
  const refuse = (why: string): CausewayError =>
    new CausewayError('CLIENT_FILE_REFUSED', `${path} was left as it is: ${why}`, {
      data: { path },
      remedy: `correct it, or put this in by hand:\n${snippet(client, entry)}`,
    })
  const read = (text: string): JsonNode => {
    try {
      return readJsonText(text, client)
    } catch (error) {
      if ((error as Error).name !== 'JsonProblem') throw error
      throw refuse(`it is not JSON: ${(error as JsonProblem).message}`)
    }
  }
  const root = read(before)
  const at = [client.key, serverName]
  const old = valueAt(root, at)?.value
  const wanted = withOwnKeys(old, asWritten(old, entry, folder))
  let text = before
  for (const [path, value] of changes(old, wanted, at)) {
    const { text: next, obstacle } = setValue(text, read(text), path, value)
    if (obstacle !== undefined)
      throw refuse(
        obstacle.kind === 'comments'
          ? `comments in ${obstacle.path.join('.')} would be lost`
          : `${obstacle.path.join('.') || 'it'} is no object`,
      )
    text = next
  }
  return text
}

/** A bridge that is named from the project's folder, as in a file that people share, stays named so. */
function asWritten(old: unknown, entry: Entry, folder: string | undefined): Entry {
  if (folder === undefined || !isObject(old) || !Array.isArray(old.args)) return entry
  const [program, ...more] = old.args as readonly unknown[]
  const isOurs =
    old.command === 'node' && typeof program === 'string' && resolve(folder, program) === entry.args[0]
  if (!isOurs || !isDeepStrictEqual(more, entry.args.slice(1))) return entry
  return { ...entry, command: 'node', args: [program, ...entry.args.slice(1)] }
}

/** Keys that say how a server is reached otherwise. */
const otherTransports = new Set(['url', 'serverUrl', 'headers', 'headersHelper', 'oauth'])

/** What the user said of the server besides stays. */
function withOwnKeys(old: unknown, entry: Entry): object {
  if (!isObject(old)) return entry
  const kept = Object.entries(old).filter(([key]) => !otherTransports.has(key))
  const env = entry.env && { env: { ...(old as { env?: object }).env, ...entry.env } }
  return { ...Object.fromEntries(kept), ...entry, ...env }
}

/** The least that is to be set: nothing, single keys, or the server as a whole. */
function changes(
  old: unknown,
  wanted: object,
  at: readonly string[],
): readonly (readonly [readonly string[], unknown])[] {
  if (isDeepStrictEqual(old, wanted)) return []
  if (!isObject(old) || Object.keys(old).some((key) => !Object.hasOwn(wanted, key))) return [[at, wanted]]
  return Object.entries(wanted)
    .filter(([key, value]) => !isDeepStrictEqual(old[key], value))
    .map(([key, value]) => [[...at, key], value])
}
