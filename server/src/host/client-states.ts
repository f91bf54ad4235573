import type { App } from '@causeway/app-kit'
import { isObject } from '@causeway/protocol'
import type { ClientStateStore } from './server-store.ts'

interface Entry {
  readonly state: unknown
  savedJson: string
  /** Last recorded use, in monotonic milliseconds. */
  touchedAt: number
}

const touchIntervalMs = 60 * 60 * 1000

/** State by client and app, saved after each change. Concurrent calls share one object. */
export class ClientStates {
  readonly #store: ClientStateStore
  readonly #capacity: number
  readonly #now: () => number
  /** By `<app> <session key>`, least recently used first. */
  readonly #entries = new Map<string, Promise<Entry>>()
  #lastKey: string | undefined

  constructor(
    store: ClientStateStore,
    { capacity = 1000, now = () => performance.now() }: { capacity?: number; now?: () => number } = {},
  ) {
    this.#store = store
    this.#capacity = capacity
    this.#now = now
  }

  async use<T>(sessionKey: string, app: App, run: (state: unknown) => Promise<T>): Promise<T> {
    const entry = await this.#get(sessionKey, app)
    if (this.#now() - entry.touchedAt > touchIntervalMs) await this.#touch(entry, sessionKey, app)
    try {
      return await run(entry.state)
    } finally {
      const json = JSON.stringify(entry.state)
      if (json !== entry.savedJson) await this.#save(entry, json, sessionKey, app)
    }
  }

  #get(sessionKey: string, app: App): Promise<Entry> {
    const key = `${app.name} ${sessionKey}`
    if (key === this.#lastKey) return this.#entries.get(key) as Promise<Entry>
    const entry = this.#entries.get(key) ?? this.#load(sessionKey, app)
    if (!this.#entries.delete(key)) entry.catch(() => this.#evict(key))
    this.#entries.set(key, entry)
    this.#lastKey = key
    if (this.#entries.size > this.#capacity) this.#entries.delete(this.#entries.keys().next().value as string)
    return entry
  }

  async #load(sessionKey: string, app: App): Promise<Entry> {
    const initial = app.session()
    const json = await this.#store.load(sessionKey, app.name)
    // An older version may have saved fewer members.
    const state = json === undefined ? initial : merge(initial, JSON.parse(json))
    return { state, savedJson: json ?? JSON.stringify(initial), touchedAt: this.#now() }
  }

  /** Prevents a state that does not change from expiring. */
  async #touch(entry: Entry, sessionKey: string, app: App): Promise<void> {
    entry.touchedAt = this.#now()
    if ((await this.#store.load(sessionKey, app.name)) === undefined) entry.savedJson = ''
  }

  async #save(entry: Entry, json: string, sessionKey: string, app: App): Promise<void> {
    const { savedJson } = entry
    entry.savedJson = json
    try {
      await this.#store.save(sessionKey, app.name, json)
    } catch (error) {
      // If the state still differs, the next call saves it again.
      if (entry.savedJson === json) entry.savedJson = savedJson
      throw error
    }
  }

  #evict(key: string): void {
    this.#entries.delete(key)
    if (key === this.#lastKey) this.#lastKey = undefined
  }
}

const merge = (initial: unknown, savedState: unknown): unknown =>
  isObject(initial) && isObject(savedState) ? { ...initial, ...savedState } : savedState
