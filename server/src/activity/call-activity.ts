import type { AuditEntry, Channel } from '../audit/audit-entry.ts'
import { EventFeed } from './event-feed.ts'

/** A finished call with its console page, such as `/replay/drop#frame=45`. */
export interface CallEvent {
  readonly entry: AuditEntry
  readonly view: string | undefined
}

interface SessionCalls {
  readonly session: string
  readonly client: string
  readonly client_version: string
  readonly channel: Channel
  readonly first_ms: number
  last_ms: number
  calls: number
  errors: number
  last_tool: string
}

const maxCalls = 2000
const maxSessions = 200

export class CallActivity {
  readonly feed = new EventFeed<CallEvent>(maxCalls)
  /** Sorted by last call, oldest first. */
  readonly #sessions = new Map<string, SessionCalls>()
  #calls = 0
  #errors = 0

  add(event: CallEvent): void {
    const { entry } = event
    const errors = entry.code === 'ok' ? 0 : 1
    this.#calls += 1
    this.#errors += errors
    this.feed.publish(event)
    this.#count(entry, errors)
  }

  get totals(): { readonly calls: number; readonly errors: number } {
    return { calls: this.#calls, errors: this.#errors }
  }

  get sessions(): readonly Readonly<SessionCalls>[] {
    return [...this.#sessions.values()].map((counted) => ({ ...counted })).reverse()
  }

  #count({ session, client, client_version, channel, at_ms, app, tool }: AuditEntry, errors: number): void {
    const counted = this.#sessions.get(session) ?? {
      session,
      client,
      client_version,
      channel,
      first_ms: at_ms,
      last_ms: at_ms,
      calls: 0,
      errors: 0,
      last_tool: '',
    }
    counted.calls += 1
    counted.errors += errors
    counted.last_ms = at_ms
    counted.last_tool = `${app}__${tool}`
    this.#sessions.delete(session)
    this.#sessions.set(session, counted)
    if (this.#sessions.size > maxSessions) this.#sessions.delete(this.#sessions.keys().next().value as string)
  }
}
