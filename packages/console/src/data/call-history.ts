import { signal } from '@preact/signals'
import type { CallLog } from './call-log.ts'
import { type Server, type ServerError, toServerError } from './server.ts'
import type { AuditPage, CallRecord } from './types.ts'

const pageSize = 200

/** The calls of the audit that match a filter, newest first. */
export class CallHistory {
  readonly calls = signal<readonly CallRecord[]>([])
  readonly state = signal<'idle' | 'loading' | 'complete'>('idle')
  readonly error = signal<ServerError | undefined>(undefined)
  readonly #server: Server
  readonly #filter: string
  readonly #closeController = new AbortController()
  #nextBefore: number | null | undefined

  constructor(server: Server, filter: string) {
    this.#server = server
    this.#filter = filter
  }

  async load(log: CallLog): Promise<void> {
    if (this.state.value !== 'idle') return
    this.state.value = 'loading'
    this.error.value = undefined
    let addedCount = 0
    try {
      while (addedCount < pageSize && this.#nextBefore !== null) {
        const entries = await this.#loadPage()
        addedCount += entries.filter((call) => !log.has(call)).length
      }
    } catch (error) {
      if (!this.#closeController.signal.aborted) this.error.value = toServerError(error)
    } finally {
      this.state.value = this.#nextBefore === null ? 'complete' : 'idle'
    }
  }

  close(): void {
    this.#closeController.abort()
  }

  async #loadPage(): Promise<readonly CallRecord[]> {
    const query = new URLSearchParams({ filter: this.#filter, limit: String(pageSize) })
    if (typeof this.#nextBefore === 'number') query.set('before', String(this.#nextBefore))
    const page = await this.#server.get<AuditPage>(`/api/apps/causeway/audit?${query}`, {
      signal: this.#closeController.signal,
    })
    this.#nextBefore = page.next_before
    this.calls.value = [...this.calls.value, ...page.entries]
    return page.entries
  }
}
