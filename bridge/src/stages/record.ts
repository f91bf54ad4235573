import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { CausewayError } from '@causeway/protocol'
import type { Reader, Upstream } from '../http/upstream.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { parseJson } from '../stdio/json.ts'
import { replaceLineBreaks } from '../stdio/lines.ts'
import { openPrivateFile } from './private-files.ts'
import type { Stage } from './stage.ts'

/** Appends the traffic to a file, one JSON object per line. */
export class Recorder {
  readonly #file: number
  readonly #log: Log
  #isFull = false
  #exchanges = 0

  constructor(path: string, log: Log) {
    this.#file = openRecording(path)
    this.#log = log
  }

  readonly stage: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => {
      this.#write('from_client', formatTextMember(line))
      toServer(line)
    },
    toClient: (json) => {
      this.#write('to_client', `,"message":${replaceLineBreaks(json)}`)
      toClient(json)
    },
  })

  wrap(upstream: Upstream): Upstream {
    const { protocol, host, pathname } = upstream.url
    // The query of the URL may contain a secret.
    const url = `${protocol}//${host}${pathname}`
    const send: Upstream['send'] = (request, reader) => {
      this.#exchanges += 1
      const id = `,"exchange":${this.#exchanges}`
      const { method, fields, body } = request
      const head = toMembers({ method, url, headers: redactFields(fields) })
      this.#write('request', `${id}${head}${body === undefined ? '' : formatTextMember(body)}`)
      const exchange = upstream.send(request, this.#watchReader(reader, id))
      exchange.done.then(
        () => this.#write('end', id),
        (error: unknown) => this.#write('end', `${id}${toMembers({ error: String(error) })}`),
      )
      return exchange
    }
    return { ...upstream, send }
  }

  #watchReader(reader: Reader, id: string): Reader {
    const decoder = new StringDecoder('utf8')
    return {
      head: (status, headers) => {
        this.#write('response', `${id}${toMembers({ status, headers: redactFields(headers) })}`)
        reader.head(status, headers)
      },
      data: (chunk) => {
        this.#write('body', `${id}${toMembers({ text: decoder.write(chunk) })}`)
        return reader.data(chunk)
      },
    }
  }

  #write(event: string, members: string): void {
    if (this.#isFull) return
    try {
      writeSync(this.#file, `{"time":"${new Date().toISOString()}","event":"${event}"${members}}\n`)
    } catch (error) {
      this.#isFull = true
      this.#log(`recording stopped: ${error}`)
    }
  }
}

function openRecording(path: string): number {
  try {
    return openPrivateFile(path)
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot record to this file: ${path}`, {
      data: { path },
      remedy: 'pass --record a new file in a folder of your own',
      cause,
    })
  }
}

const toMembers = (object: object): string => `,${JSON.stringify(object).slice(1, -1)}`

const formatTextMember = (line: Buffer): string =>
  parseJson(line) === undefined ? toMembers({ text: line.toString('utf8') }) : `,"message":${line}`

const publicHeaderPattern =
  /^(?:accept|allow|cache-control|connection|content-(?:length|type)|date|keep-alive|last-event-id|retry-after|server|transfer-encoding|user-agent|causeway-request|mcp-(?!session-id).*)$/

function redactFields(fields: object): Record<string, string> {
  const redact = (name: string, value: unknown): string => {
    if (publicHeaderPattern.test(name)) return String(value)
    // The digest distinguishes sessions.
    return name === 'mcp-session-id' ? `[redacted ${hash(String(value))}]` : '[redacted]'
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redact(name, value)]))
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
