import { readFileSync } from 'node:fs'
import { CausewayError, claimedVersion, kindOf, type Request } from '@causeway/protocol'
import { canonical } from './canonical.ts'
import { parsed } from './parsed.ts'

/** The calls of a recording, to be answered again. */
export interface Traffic {
  /** The recorded answer to such a request, under its id: the answers of equal requests in turn, then the last one. */
  answer(request: Request): unknown
}

type Members = Readonly<Record<string, unknown>>

/** Reads a recording; throws `INVALID_SETTING` for a file that is none. A cut last line is passed over. */
export function readTraffic(path: string): Traffic {
  const asked = new Map<string, string>()
  const answers = new Map<string, Members[]>()
  let events = 0
  for (const line of read(path).split('\n')) {
    const { event, message } = (parsed(Buffer.from(line)) ?? {}) as { event?: unknown; message?: unknown }
    if (typeof event === 'string') events += 1
    for (const value of [message].flat() as Members[]) {
      if (event === 'from_client' && kindOf(value) === 'request')
        asked.set(canonical(value.id), keyOf(value as unknown as Request))
      if (event !== 'to_client' || kindOf(value) !== 'response') continue
      const key = asked.get(canonical(value.id))
      if (key === undefined) continue
      asked.delete(canonical(value.id))
      answers.set(key, [...(answers.get(key) ?? []), value])
    }
  }
  if (events === 0)
    throw new CausewayError('INVALID_SETTING', `not recorded traffic: ${path}`, {
      remedy: 'give --replay a file that --record wrote',
    })
  return {
    answer(request) {
      const key = keyOf(request)
      const [next, ...later] = answers.get(key) ?? []
      if (next === undefined)
        throw new CausewayError('NOT_IN_TRAFFIC', `this call was not recorded: ${request.method}`, {
          data: { method: request.method, recorded: answers.size },
        })
      if (later.length > 0) answers.set(key, later)
      return { ...next, id: request.id }
    },
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot read the file of --replay: ${path}`, {
      data: { path },
      cause,
    })
  }
}

/**
 * What makes two requests the same: era, method and arguments. Not `_meta`, where progress tokens and trace ids stand,
 * and not who asks: a recording of one client can be replayed to another.
 */
function keyOf(request: Request): string {
  const { _meta, clientInfo, capabilities, ...params } = request.params ?? {}
  return canonical([claimedVersion(request) ?? null, request.method, params])
}
