import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { type Id, headers as names } from '@causeway/protocol'
import type { Fields } from '../http/headers.ts'

/** Ids that do not match are omitted from the header. */
const printableId = /^[A-Za-z0-9._-]{1,64}$/

/** A `traceparent` header (https://www.w3.org/TR/trace-context/#traceparent-header). */
const traceFormat = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

export class Identity {
  /** Sent with every request to identify the client's state. */
  readonly fields: Fields
  readonly #session: string
  readonly #run: string
  #calls = 0

  /** `run` differs between two processes with the same `session`. `project` is the client's folder. */
  constructor(session: string, run: string, project?: string) {
    this.#session = session
    this.#run = run
    this.fields = {
      [names.causewaySession]: session,
      ...(project === undefined ? {} : { [names.causewayProject]: encodeURIComponent(project) }),
    }
  }

  /** Returns fields that identify a call and its trace. Retries must reuse them. */
  call(id: Id, traceparent: unknown): Fields {
    // A client may reuse an id after its response.
    this.#calls += 1
    const suffix = printableId.test(String(id)) ? `.${id}` : ''
    return {
      [names.causewayRequest]: `${this.#session}.${this.#run}-${this.#calls}${suffix}`,
      traceparent:
        typeof traceparent === 'string' && traceFormat.test(traceparent) ? traceparent : createTrace(),
    }
  }
}

/** Returns a `traceparent` header. Uses UUIDs, because Node.js caches their random bytes. */
function createTrace(): string {
  const trace = crypto.randomUUID().split('-').join('')
  return `00-${trace}-${trace.slice(16)}-01`
}

const loopbackPattern = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Returns the client's folder; `undefined` for remote servers, which must not receive paths, and for the root and home
 * folders, which are not projects.
 */
export function findProject(url: URL | string, cwd: string, home = homedir()): string | undefined {
  const { hostname, protocol } = new URL(url)
  const isLocal = protocol === 'unix:' || loopbackPattern.test(hostname)
  return isLocal && cwd !== home && cwd !== dirname(cwd) ? cwd : undefined
}
