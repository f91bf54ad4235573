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
  previousText: string | undefined,
  {
    path,
    client,
    entry,
    project,
  }: ClientFile & { readonly entry: ServerEntry; readonly project: string | undefined },
): string {
  if (previousText === undefined || previousText.trim() === '')
    return `${formatSnippet(client, entry).trimEnd()}\n`
  return editFile(
    previousText,
    { path, client, help: formatSnippet(client, entry) },
    (text, { read, set }) => {
      const oldEntry = read(text)
      const portableEntry = preserveRelativePath(oldEntry, entry, project)
      return set(
        text,
        oldEntry,
        mergeEntry(oldEntry, client.hasType ? { type: 'stdio', ...portableEntry } : portableEntry),
      )
    },
  )
}

/** Restores the entry in `originalText`, or removes the entry. Throws `CLIENT_FILE_REFUSED`. */
export function revertEntry(text: string, originalText: string | undefined, file: ClientFile): string {
  return editFile(text, { ...file, help: undefined }, (currentText, { read, set, remove }) => {
    const oldEntry =
      originalText === undefined || originalText.trim() === ''
        ? undefined
        : read(removeByteOrderMark(originalText))
    return isObject(oldEntry) ? set(currentText, read(currentText), oldEntry) : remove(currentText)
  })
}

interface Editor {
  readonly read: (text: string) => unknown
  readonly set: (text: string, oldEntry: unknown, value: object) => string
  readonly remove: (text: string) => string
}

const removeByteOrderMark = (text: string): string => text.replace(/^\uFEFF/, '')

function editFile(
  text: string,
  { path, client, help }: ClientFile & { readonly help: string | undefined },
  change: (text: string, editor: Editor) => string,
): string {
  const entryPath = [client.key, serverName]
  const editor: Editor =
    client.format === 'toml'
      ? {
          read: (text) => readTomlValue(text, entryPath),
          set: (text, oldEntry, value) =>
            isDeepStrictEqual(oldEntry, value) ? text : setTomlTable(text, entryPath, value),
          remove: (text) => removeTomlTable(text, entryPath),
        }
      : {
          read: (text) => readJsonValue(text, entryPath, client),
          set: (text, oldEntry, value) =>
            listChanges(oldEntry, value, entryPath).reduce(
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
function preserveRelativePath(
  oldEntry: unknown,
  entry: ServerEntry,
  project: string | undefined,
): ServerEntry {
  if (project === undefined || !isObject(oldEntry) || !Array.isArray(oldEntry.args)) return entry
  const [program, ...programArgs] = oldEntry.args as readonly unknown[]
  const isThisBridge =
    oldEntry.command === 'node' && typeof program === 'string' && resolve(project, program) === entry.args[0]
  if (!isThisBridge || !isDeepStrictEqual(programArgs, entry.args.slice(1))) return entry
  return { ...entry, command: 'node', args: [program, ...entry.args.slice(1)] }
}

const otherTransportKeys = new Set([
  ...['url', 'serverUrl', 'httpUrl', 'headers', 'headersHelper', 'oauth'],
  ...['http_headers', 'env_http_headers', 'bearer_token_env_var'],
])

/** Keeps the user's variables and other keys, except those for other transports. */
function mergeEntry(oldEntry: unknown, entry: ServerEntry): object {
  if (!isObject(oldEntry)) return entry
  const ownEntries = Object.entries(oldEntry).filter(([key]) => !otherTransportKeys.has(key))
  const env = entry.env && { env: { ...(oldEntry as { env?: object }).env, ...entry.env } }
  return { ...Object.fromEntries(ownEntries), ...entry, ...env }
}

interface Change {
  readonly path: readonly string[]
  readonly value: unknown
}

function listChanges(oldEntry: unknown, updatedEntry: object, path: readonly string[]): readonly Change[] {
  if (isDeepStrictEqual(oldEntry, updatedEntry)) return []
  if (!isObject(oldEntry) || Object.keys(oldEntry).some((key) => !Object.hasOwn(updatedEntry, key)))
    return [{ path, value: updatedEntry }]
  return Object.entries(updatedEntry)
    .filter(([key, value]) => !isDeepStrictEqual(oldEntry[key], value))
    .map(([key, value]) => ({ path: [...path, key], value }))
}
