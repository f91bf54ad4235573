import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { CausewayError, isReadableByOthers } from '@causeway/protocol'
import type { Log } from '../lifecycle/debug-log.ts'
import type { Credentials } from '../settings/settings.ts'
import type { Fields } from './headers.ts'

/** Set by HTTP or the bridge. */
const ownFields =
  /^(?:accept|connection|content-(?:length|type)|host|keep-alive|last-event-id|te|trailer|transfer-encoding|upgrade|causeway-.*|mcp-.*)$/

const fieldPattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/

/**
 * Returns the configured header fields of a request. Reads a changed token file again; keeps the last token
 * while it is unreadable. Throws `INVALID_SETTING`.
 */
export function openCredentials({ header, headerFile, tokenFile }: Credentials, log: Log): () => Fields {
  const fields = {
    ...(headerFile !== undefined && parseFields(readLines(readSecretFile(headerFile, '--header-file').text))),
    ...parseFields(header),
  }
  if (tokenFile === undefined) return () => fields
  if (fields.authorization !== undefined)
    throw invalid('both --token-file and a header set Authorization', 'omit one of them')

  let file = readSecretFile(tokenFile, '--token-file')
  let current = { ...fields, ...authorization(file, tokenFile) }
  let failed = ''
  return () => {
    try {
      const stamp = readStamp(statSync(tokenFile))
      if (stamp === file.stamp || stamp === failed) return current
      failed = stamp
      file = readSecretFile(tokenFile, '--token-file')
      current = { ...fields, ...authorization(file, tokenFile) }
      log('read the token file again')
    } catch (error) {
      // A file is missing while it is being replaced.
      log(`the token file was not read again: ${error}`)
    }
    return current
  }
}

function authorization({ text }: SecretFile, path: string): Fields {
  const token = text.trim().replace(/^bearer\s+/i, '')
  if (/^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` }
  throw invalid(
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
        throw invalid(`not a header: ${text.split(':')[0]}`, "write it as 'Name: value', in ASCII")
      if (ownFields.test(name.toLowerCase()))
        throw invalid(`the bridge sets this header itself: ${name}`, 'omit it')
      return [name.toLowerCase(), value]
    }),
  )
}

const readLines = (text: string): string[] => text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line))

interface SecretFile {
  readonly text: string
  readonly stamp: string
}

/** Throws `INVALID_SETTING` unless only the owner can read the file. */
function readSecretFile(path: string, setting: string): SecretFile {
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
    rejectShared(stat, path, setting)
    return { text: readFileSync(file, 'utf8'), stamp: readStamp(stat) }
  } finally {
    closeSync(file)
  }
}

/** Changes when the file is written, replaced or gets other permissions. */
const readStamp = ({ mtimeMs, ctimeMs, size, ino }: Stats): string => [mtimeMs, ctimeMs, size, ino].join(' ')

function rejectShared(stat: Stats, path: string, setting: string): void {
  if (!stat.isFile())
    throw new CausewayError('INVALID_SETTING', `${setting} is not a file: ${path}`, { data: { path } })
  if (!isReadableByOthers(stat.mode)) return
  throw new CausewayError('INVALID_SETTING', `other users can read ${setting}: ${path}`, {
    data: { path, mode: (stat.mode & 0o777).toString(8) },
    remedy: `run chmod 600 ${path}`,
  })
}

const invalid = (message: string, remedy: string): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { remedy })
