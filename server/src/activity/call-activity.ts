import type { AuditEntry, Channel } from '../audit/audit-entry.ts'
import { EventFeed } from './event-feed.ts'

/** A finished call. `view` is its console page, such as `/replay/drop#frame=45`. */
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

interface CountedSession extends SessionCalls {
  /** Sequence number of the session's last call among all calls. */
  lastCallNumber: number
}

const maxCalls = 2000
const maxSessions = 200

export class CallActivity {
  readonly feed = new EventFeed<CallEvent>(maxCalls)
  /** Ordered by first call. Reinserting a session for each call would make V8 retain old tables of the map. */
  readonly #sessions = new Map<string, CountedSession>()
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
    const sessions = [...this.#sessions.values()].sort((a, b) => b.lastCallNumber - a.lastCallNumber)
    return sessions.map(({ lastCallNumber: _, ...countedSession }) => countedSession)
  }

  #count(entry: AuditEntry, errors: number): void {
    const { session, at_ms, app, tool } = entry
    const countedSession = this.#sessions.get(session) ?? this.#addSession(entry)
    countedSession.calls += 1
    countedSession.errors += errors
    countedSession.last_ms = at_ms
    countedSession.last_tool = `${app}__${tool}`
    countedSession.lastCallNumber = this.#calls
  }

  #addSession({ session, client, client_version, channel, at_ms }: AuditEntry): CountedSession {
    if (this.#sessions.size >= maxSessions) {
      const oldestSession = [...this.#sessions.values()].reduce((a, b) =>
        b.lastCallNumber < a.lastCallNumber ? b : a,
      )
      this.#sessions.delete(oldestSession.session)
    }
    const newSession = {
      session,
      client,
      client_version,
      channel,
      first_ms: at_ms,
      last_ms: at_ms,
      calls: 0,
      errors: 0,
      last_tool: '',
      lastCallNumber: 0,
    }
    this.#sessions.set(session, newSession)
    return newSession
  }
}
