import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { CausewayError, isReadableByOthers } from '@causeway/protocol'
import { createSettingError } from '../errors.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import type { Credentials } from '../settings/settings.ts'
import type { Fields } from './headers.ts'

/** Fields that only HTTP or the bridge may set. */
const reservedFieldPattern =
  /^(?:accept|connection|content-(?:length|type)|host|keep-alive|last-event-id|te|trailer|transfer-encoding|upgrade|causeway-.*|mcp-.*)$/

const fieldPattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/

/**
 * Returns a function that returns the configured header fields. It reads a changed token file again, and uses the
 * last token while the file is unreadable. Throws `INVALID_SETTING`.
 */
export function openCredentials({ header, headerFile, tokenFile }: Credentials, log: Log): () => Fields {
  const fields = {
    ...(headerFile !== undefined && parseFields(readLines(readSecretFile(headerFile, '--header-file')))),
    ...parseFields(header),
  }
  if (tokenFile === undefined) return () => fields
  if (fields.authorization !== undefined)
    throw createSettingError('both --token-file and a header set Authorization', 'omit one of them')

  const loadFields = (): Fields => ({
    ...fields,
    ...createAuthorizationField(readSecretFile(tokenFile, '--token-file'), tokenFile),
  })
  let fileVersion = readFileVersion(tokenFile)
  let current = loadFields()
  return () => {
    const currentVersion = readFileVersion(tokenFile)
    if (currentVersion === fileVersion) return current
    fileVersion = currentVersion
    try {
      current = loadFields()
      log('read the token file again')
    } catch (error) {
      // The file may be missing while it is being replaced.
      log(`the token file was not read again: ${error}`)
    }
    return current
  }
}

function createAuthorizationField(text: string, path: string): Fields {
  const token = text.trim().replace(/^bearer\s+/i, '')
  if (/^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` }
  throw createSettingError(
    `the file of --token-file contains no token: ${path}`,
    'write only the token into it, on one line',
  )
}

/** Errors omit the value, which may be a secret. */
function parseFields(texts: readonly string[]): Fields {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value = ''] = fieldPattern.exec(text) ?? []
      if (name === undefined)
        throw createSettingError(`not a header: ${text.split(':')[0]}`, "write it as 'Name: value', in ASCII")
      if (reservedFieldPattern.test(name.toLowerCase()))
        throw createSettingError(`the bridge sets this header itself: ${name}`, 'omit it')
      return [name.toLowerCase(), value]
    }),
  )
}

const readLines = (text: string): string[] => text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line))

/** Throws `INVALID_SETTING` unless only the owner can read the file. */
function readSecretFile(path: string, setting: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot read ${setting}: ${path}`, {
      data: { path, cause: (cause as NodeJS.ErrnoException).code },
      remedy: 'check that the file exists and belongs to you',
      cause,
    })
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile())
      throw new CausewayError('INVALID_SETTING', `${setting} is not a file: ${path}`, { data: { path } })
    if (isReadableByOthers(stat.mode))
      throw new CausewayError('INVALID_SETTING', `other users can read ${setting}: ${path}`, {
        data: { path, mode: (stat.mode & 0o777).toString(8) },
        remedy: `run chmod 600 ${path}`,
      })
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function readFileVersion(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path)
    return [mtimeMs, ctimeMs, size, ino].join(' ')
  } catch (error) {
    return String(error)
  }
}
