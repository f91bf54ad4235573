/**
 * The state that belongs to one client: found by its session key, held in memory, saved after each call that changed it.
 *
 * Under one key, calls see one object. It is plain JSON, so that it survives a restart.
 */

import type { App } from '@causeway/app-kit'
import { isObject } from '@causeway/protocol'

/** Where states are kept between runs. Each method is one transaction. */
export interface ClientStateStore {
  /** The state as JSON text, or undefined for an unknown or expired key. Counts as use. */
  load(sessionKey: string, app: string): Promise<string | undefined>
  save(sessionKey: string, app: string, json: string): Promise<void>
}

/** States of all clients. */
export interface ClientStates {
  /** Runs with the state of this client and app, then saves it if it changed, also when `run` threw. */
  use<T>(sessionKey: string, app: App, run: (state: unknown) => Promise<T>): Promise<T>
}

interface Held {
  readonly state: unknown
  saved: string
  /** When its use was noted last, on the steady clock. */
  notedMs: number
}

/** Its use is noted in the store this often, ms: far more often than states are forgotten there. */
const noteMs = 60 * 60 * 1000

/** Keeps at most `capacity` states in memory, those used last. */
export function clientStates(
  store: ClientStateStore,
  { capacity = 1000, steady = () => performance.now() }: { capacity?: number; steady?: () => number } = {},
): ClientStates {
  const held = new Map<string, Promise<Held>>()
  /** The one at the end of the map. */
  let lastKey: string | undefined
  const forget = (key: string): void => {
    held.delete(key)
    if (key === lastKey) lastKey = undefined
  }

  const load = async (sessionKey: string, app: App): Promise<Held> => {
    const fresh = app.session()
    const saved = await store.load(sessionKey, app.name)
    // A state of an older version may lack members: the fresh one fills them in.
    const state = saved === undefined ? fresh : merge(fresh, JSON.parse(saved))
    return { state, saved: saved ?? JSON.stringify(fresh), notedMs: steady() }
  }

  const hold = (sessionKey: string, app: App): Promise<Held> => {
    const key = `${app.name} ${sessionKey}`
    if (key === lastKey) return held.get(key) as Promise<Held>
    const known = held.get(key) ?? load(sessionKey, app)
    // Moved to the end: the first of the map is the one that was used longest ago.
    if (!held.delete(key)) known.catch(() => forget(key))
    held.set(key, known)
    lastKey = key
    if (held.size > capacity) held.delete(held.keys().next().value as string)
    return known
  }

  return {
    async use(sessionKey, app, run) {
      const holding = await hold(sessionKey, app)
      if (steady() - holding.notedMs > noteMs) {
        holding.notedMs = steady()
        // What is held in memory and never changes would be forgotten in the file; loading counts as use.
        if ((await store.load(sessionKey, app.name)) === undefined) holding.saved = ''
      }
      try {
        return await run(holding.state)
      } finally {
        const json = JSON.stringify(holding.state)
        if (json !== holding.saved) {
          const { saved } = holding
          holding.saved = json
          const saving = store.save(sessionKey, app.name, json)
          // Where that fails the next call saves it, for what is in memory is not in the file.
          saving.catch(() => {
            if (holding.saved === json) holding.saved = saved
          })
          await saving
        }
      }
    },
  }
}

function merge(fresh: unknown, saved: unknown): unknown {
  return isObject(fresh) && isObject(saved) ? { ...fresh, ...saved } : saved
}
