import type { Readable, Writable } from 'node:stream'
import {
  asCausewayError,
  asObject,
  classifyMessage,
  type JsonObject,
  type Request,
  readClaimedVersion,
} from '@causeway/protocol'
import { createErrorLine } from '../calls/answer.ts'
import { BridgeError, createSettingError } from '../errors.ts'
import { parseJson, toCanonicalJson } from '../stdio/json.ts'
import { readLines } from '../stdio/lines.ts'
import { type Line, readLine, toLine } from '../stdio/message.ts'
import { Output } from '../stdio/output.ts'
import { readFlagFile } from './private-files.ts'

/** Answers a client from a file that `--record` wrote. Throws `INVALID_SETTING` for an invalid file. */
export async function replayTraffic(path: string, stdin: Readable, stdout: Writable): Promise<void> {
  const responses = readResponses(path)
  const output = new Output(stdout)
  void output.closed.then(() => stdin.destroy())

  const respond = (bytes: Buffer): void => {
    const request = parseJson(bytes) as Request
    if (request.method === undefined || request.id === undefined) return
    try {
      output.write(toLine(takeResponse(responses, request)))
    } catch (error) {
      output.write(createErrorLine(request.id, asCausewayError(error)))
    }
  }
  const handle = (line: Line): void => {
    if (line.type === 'rejected') output.write(createErrorLine(line.id, line.error))
    else for (const { bytes } of line.type === 'batch' ? line.messages : [line.message]) respond(bytes)
  }

  const ended = readLines(stdin, (line) => readLine(line).forEach(handle))
  // If the client closes the output, the input is closed without an `end` event.
  await Promise.race([ended, new Promise((resolve) => stdin.once('close', resolve))])
  await output.flush()
}

function readResponses(path: string): Map<string, JsonObject[]> {
  const requests = new Map<string, string>()
  const responses = new Map<string, JsonObject[]>()
  let events = 0
  for (const line of readFlagFile('--replay', path).split('\n')) {
    const { event, message } = asObject(parseJson(Buffer.from(line)))
    if (typeof event === 'string') events += 1
    for (const value of [message].flat().map(asObject)) {
      const kind = classifyMessage(value)
      const id = toCanonicalJson(value.id)
      const key = requests.get(id)
      if (event === 'from_client' && kind === 'request')
        requests.set(id, toRequestKey(value as unknown as Request))
      else if (event === 'to_client' && kind === 'response' && key !== undefined) {
        requests.delete(id)
        responses.set(key, [...(responses.get(key) ?? []), value])
      }
    }
  }
  if (events > 0) return responses
  throw createSettingError(`not recorded traffic: ${path}`, 'pass a file that --record wrote to --replay')
}

/** Returns the next recorded response to a request, repeating the last one. Throws `NOT_IN_TRAFFIC`. */
function takeResponse(responses: Map<string, JsonObject[]>, request: Request): JsonObject {
  const key = toRequestKey(request)
  const [next, ...remainingResponses] = responses.get(key) ?? []
  if (next === undefined)
    throw new BridgeError('NOT_IN_TRAFFIC', `this call was not recorded: ${request.method}`, {
      data: { method: request.method, recorded: responses.size },
    })
  if (remainingResponses.length > 0) responses.set(key, remainingResponses)
  return { ...next, id: request.id }
}

function toRequestKey(request: Request): string {
  const { _meta, clientInfo, capabilities, ...params } = request.params ?? {}
  return toCanonicalJson([readClaimedVersion(request) ?? null, request.method, params])
}
