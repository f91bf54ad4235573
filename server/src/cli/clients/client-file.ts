import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { JsonEditError, readJsonValue, removeJsonValue, setJsonValue } from '@causeway/gateway/config'
import { isObject } from '@causeway/protocol'
import { ServerError } from '../../errors.ts'
import type { Client } from './clients.ts'
import { formatTomlTable, readTomlValue, removeTomlTable, setTomlTable } from './edit-toml.ts'
import type { ServerEntry } from './server-entry.ts'

const serverName = 'causeway'

interface ClientFile {
  readonly path: string
  readonly client: Client
}

export const formatSnippet = ({ key, format, hasType }: Client, entry: ServerEntry): string => {
  const value = hasType ? { type: 'stdio', ...entry } : entry
  return format === 'toml'
    ? formatTomlTable([key, serverName], value)
    : JSON.stringify({ [key]: { [serverName]: value } }, null, 2)
}

/** Leaves all other text unchanged. Throws `CLIENT_FILE_REFUSED`. */
export function addEntry(
  before: string | undefined,
  {
    path,
    client,
    entry,
    project,
  }: ClientFile & { readonly entry: ServerEntry; readonly project: string | undefined },
): string {
  if (before === undefined || before.trim() === '') return `${formatSnippet(client, entry).trimEnd()}\n`
  return edit(before, { path, client, help: formatSnippet(client, entry) }, (text, { read, set }) => {
    const old = read(text)
    const kept = preserveRelativePath(old, entry, project)
    return set(text, old, mergeEntry(old, client.hasType ? { type: 'stdio', ...kept } : kept))
  })
}

/** Restores the entry in `original`, or removes the entry. Throws `CLIENT_FILE_REFUSED`. */
export function revertEntry(text: string, original: string | undefined, file: ClientFile): string {
  return edit(text, { ...file, help: undefined }, (current, { read, set, remove }) => {
    const old =
      original === undefined || original.trim() === '' ? undefined : read(removeByteOrderMark(original))
    return isObject(old) ? set(current, read(current), old) : remove(current)
  })
}

interface Editor {
  readonly read: (text: string) => unknown
  readonly set: (text: string, old: unknown, value: object) => string
  readonly remove: (text: string) => string
}

const removeByteOrderMark = (text: string): string => text.replace(/^\uFEFF/, '')

function edit(
  text: string,
  { path, client, help }: ClientFile & { readonly help: string | undefined },
  change: (text: string, editor: Editor) => string,
): string {
  const entryPath = [client.key, serverName]
  const editor: Editor =
    client.format === 'toml'
      ? {
          read: (text) => readTomlValue(text, entryPath),
          set: (text, old, value) =>
            isDeepStrictEqual(old, value) ? text : setTomlTable(text, entryPath, value),
          remove: (text) => removeTomlTable(text, entryPath),
        }
      : {
          read: (text) => readJsonValue(text, entryPath, client),
          set: (text, old, value) =>
            listChanges(old, value, entryPath).reduce(
              (changed, { path, value }) => setJsonValue(changed, path, value, client),
              text,
            ),
          remove: (text) => removeJsonValue(text, entryPath, client),
        }
  const content = removeByteOrderMark(text)
  try {
    return text.slice(0, text.length - content.length) + change(content, editor)
  } catch (error) {
    if (!(error instanceof JsonEditError)) throw error
    throw new ServerError('CLIENT_FILE_REFUSED', `${path} was not changed: ${error.message}`, {
      data: { path },
      remedy: help === undefined ? 'edit it by hand' : `correct it, or add these lines by hand:\n${help}`,
    })
  }
}

/** Keeps a relative path to this bridge, so that a shared file stays portable. */
function preserveRelativePath(old: unknown, entry: ServerEntry, project: string | undefined): ServerEntry {
  if (project === undefined || !isObject(old) || !Array.isArray(old.args)) return entry
  const [program, ...more] = old.args as readonly unknown[]
  const isThisBridge =
    old.command === 'node' && typeof program === 'string' && resolve(project, program) === entry.args[0]
  if (!isThisBridge || !isDeepStrictEqual(more, entry.args.slice(1))) return entry
  return { ...entry, command: 'node', args: [program, ...entry.args.slice(1)] }
}

const otherTransportKeys = new Set([
  ...['url', 'serverUrl', 'httpUrl', 'headers', 'headersHelper', 'oauth'],
  ...['http_headers', 'env_http_headers', 'bearer_token_env_var'],
])

/** Keeps the user's variables and other keys, except those for other transports. */
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

function listChanges(old: unknown, updated: object, path: readonly string[]): readonly Change[] {
  if (isDeepStrictEqual(old, updated)) return []
  if (!isObject(old) || Object.keys(old).some((key) => !Object.hasOwn(updated, key)))
    return [{ path, value: updated }]
  return Object.entries(updated)
    .filter(([key, value]) => !isDeepStrictEqual(old[key], value))
    .map(([key, value]) => ({ path: [...path, key], value }))
}
