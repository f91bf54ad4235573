import { statSync } from 'node:fs'
import { CausewayError } from '@causeway/protocol'
import type { Log } from './debug-log.ts'
import type { Fields } from './headers.ts'
import { readSecretFile, type SecretFile, stampOf } from './secret-file.ts'
import type { Credentials } from './settings.ts'

/** Fields that HTTP or the bridge sets, and that would break the connection or the session if set otherwise. */
const ownFields =
  /^(?:accept|connection|content-(?:length|type)|host|keep-alive|last-event-id|te|trailer|transfer-encoding|upgrade|causeway-.*|mcp-.*)$/

const fieldPattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/

/**
 * The header fields that a person has set for every request. The token file is looked at before each request and read
 * again when it has changed; while it cannot be read, the last token goes on being used, and the log says so.
 * Throws `INVALID_SETTING` for a bad field or file.
 */
export function openCredentials({ header, headerFile, tokenFile }: Credentials, log: Log): () => Fields {
  const fields = {
    ...(headerFile !== undefined && parseFields(linesOf(readSecretFile(headerFile, '--header-file').text))),
    ...parseFields(header),
  }
  if (tokenFile === undefined) return () => fields
  if (fields.authorization !== undefined)
    throw invalid('both --token-file and a header set Authorization', 'leave one of them out')

  let file = readSecretFile(tokenFile, '--token-file')
  let current = { ...fields, ...authorization(file, tokenFile) }
  let failed = ''
  return () => {
    try {
      const stamp = stampOf(statSync(tokenFile))
      if (stamp === file.stamp || stamp === failed) return current
      failed = stamp
      file = readSecretFile(tokenFile, '--token-file')
      current = { ...fields, ...authorization(file, tokenFile) }
      log('read the token file again')
    } catch (error) {
      // A file that is being replaced is missing for a moment; the server judges the old token.
      log(`the token file was not read again: ${error}`)
    }
    return current
  }
}

function authorization({ text }: SecretFile, path: string): Fields {
  const token = text.trim().replace(/^bearer\s+/i, '')
  if (/^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` }
  throw invalid(
    `the file of --token-file holds no token: ${path}`,
    'write the token alone into it, on one line',
  )
}

/** `Name: value` texts as fields; a refused one is named without its value, which may be a secret. */
function parseFields(texts: readonly string[]): Fields {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value = ''] = fieldPattern.exec(text) ?? []
      if (name === undefined)
        throw invalid(`not a header: ${text.split(':')[0]}`, "write it as 'Name: value', in ASCII")
      if (ownFields.test(name.toLowerCase()))
        throw invalid(`the bridge sets this header itself: ${name}`, 'leave it out')
      return [name.toLowerCase(), value]
    }),
  )
}

const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line))

const invalid = (message: string, remedy: string): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { remedy })
