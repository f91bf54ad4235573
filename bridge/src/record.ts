import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { CausewayError } from '@causeway/protocol'
import type { Log } from './debug-log.ts'
import type { Fields } from './headers.ts'
import { onOneLine } from './lines.ts'
import { parsed } from './parsed.ts'
import { openPrivateFile } from './private-file.ts'
import type { Stage } from './stage.ts'
import type { Exchange, Reader, Upstream } from './upstream.ts'

/** A file that takes the traffic as it passes: each line an object with `time`, `event` and what belongs to it. */
export interface Recorder {
  /** Sees what passes between the client and the bridge: events `from_client` and `to_client`. */
  readonly stage: Stage
  /** Sees what passes between the bridge and the server: `request`, `response`, `body`, `end`; `common` go with each request. */
  watch(upstream: Upstream, common: () => Fields): Upstream
}

interface Parts {
  readonly now: () => Date
  readonly log: Log
}

/** Opens the file for appending; throws `INVALID_SETTING` where that cannot be done safely. */
export function openRecorder(path: string, { now, log }: Parts): Recorder {
  const file = open(path)
  let isFull = false
  const write = (event: string, members: string): void => {
    if (isFull) return
    try {
      writeSync(file, `{"time":"${now().toISOString()}","event":"${event}"${members}}\n`)
    } catch (error) {
      // A full disk must not end the bridge.
      isFull = true
      log(`recording stopped: ${error}`)
    }
  }
  return {
    stage: ({ toServer, toClient }) => ({
      toServer(line) {
        write('from_client', textMember(line))
        toServer(line)
      },
      toClient(json) {
        write('to_client', `,"message":${onOneLine(json)}`)
        toClient(json)
      },
    }),
    watch: (upstream, common) => watched(upstream, common, write),
  }
}

/** A line as the message that it is, or else as text. */
const textMember = (line: Buffer): string =>
  parsed(line) === undefined ? `,"text":${JSON.stringify(line.toString('utf8'))}` : `,"message":${line}`

function open(path: string): number {
  try {
    return openPrivateFile(path)
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot record into this file: ${path}`, {
      data: { path },
      remedy: 'give --record a new file in a folder of your own',
      cause,
    })
  }
}

function watched(
  upstream: Upstream,
  common: () => Fields,
  write: (event: string, members: string) => void,
): Upstream {
  let exchanges = 0
  const place = `${upstream.url.protocol}//${upstream.url.host}${upstream.url.pathname}`

  const begin = (
    method: string,
    fields: object,
    body?: Buffer,
  ): { of: string; watch: (reader: Reader) => Reader } => {
    exchanges += 1
    const of = `,"exchange":${exchanges}`
    // The query may hold a key.
    const head = JSON.stringify({
      method,
      url: place,
      headers: shownFields({ ...common(), ...fields }),
    }).slice(1, -1)
    write('request', `${of},${head}${body === undefined ? '' : textMember(body)}`)
    const text = new StringDecoder('utf8')
    return {
      of,
      watch: (reader) => ({
        ...reader,
        head(status, headers) {
          const line = JSON.stringify({ status, headers: shownFields(headers) }).slice(1, -1)
          write('response', `${of},${line}`)
          reader.head(status, headers)
        },
        data(chunk) {
          write('body', `${of},"text":${JSON.stringify(text.write(chunk))}`)
          reader.data(chunk)
        },
      }),
    }
  }
  const ended = (exchange: Exchange, of: string): Exchange => {
    exchange.done.then(
      () => write('end', of),
      (error: unknown) => write('end', `${of},"error":${JSON.stringify(String(error))}`),
    )
    return exchange
  }
  const withoutBody =
    (method: string, start: Upstream['listen']): Upstream['listen'] =>
    (fields, reader) => {
      const { of, watch } = begin(method, fields)
      return ended(start(fields, watch(reader)), of)
    }

  return {
    ...upstream,
    post(fields, body, reader, path) {
      const { of, watch } = begin('POST', fields, body)
      return ended(upstream.post(fields, body, watch(reader), path), of)
    },
    listen: withoutBody('GET', upstream.listen),
    resume: withoutBody('GET', upstream.resume),
    remove: withoutBody('DELETE', upstream.remove),
  }
}

/** Headers whose values are shown; of every other only the name is. */
const shown =
  /^(?:accept|allow|cache-control|connection|content-(?:length|type)|date|keep-alive|last-event-id|retry-after|server|transfer-encoding|user-agent|causeway-request|mcp-(?!session-id).*)$/

function shownFields(fields: object): Record<string, string> {
  const shownField = (name: string, value: unknown): string => {
    if (shown.test(name)) return String(value)
    // A session's id opens the session; that two are the same one must still be seen.
    return name === 'mcp-session-id' ? `[redacted ${digest(String(value))}]` : '[redacted]'
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shownField(name, value)]))
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
