import { setTimeout as wait } from 'node:timers/promises'
import type { CausewayError } from '@causeway/protocol'
import type { Log } from './debug-log.ts'
import type { Listener } from './listen.ts'
import type { Output } from './output.ts'
import type { Relay } from './relay.ts'
import type { Session } from './session.ts'
import type { Upstream } from './upstream.ts'

/** Why and how the bridge ends. */
export interface Ending {
  readonly reason: string
  /** How long open calls are waited for, in milliseconds. */
  readonly graceMs: number
  readonly code: number
  /** What calls are answered with whose time is up. */
  readonly error: CausewayError
}

interface Parts {
  readonly relay: Relay
  readonly listener: Listener
  readonly session: Session
  readonly upstream: Upstream
  readonly output: Output
  readonly log: Log
  readonly exit: (code: number) => void
}

/** Neither a hanging server nor a client that does not read may keep the process. */
const farewellMs = 500

/**
 * Ends the bridge: answers in flight, then errors for the rest, then the session on the server. A second ending, with
 * less grace, cuts the first one short; the first one's code stays.
 */
export function createEnd({ relay, listener, session, upstream, output, log, exit }: Parts) {
  let cutShort: (() => void) | undefined
  return async ({ reason, graceMs, code, error }: Ending): Promise<void> => {
    log(`ending: ${reason}`)
    const timeUp = wait(graceMs)
    if (cutShort !== undefined) {
      await timeUp
      return cutShort()
    }
    const cut = new Promise<void>((resolve) => {
      cutShort = resolve
    })
    relay.dropListening()
    await Promise.race([relay.idle().then(output.flushed), timeUp, cut])
    relay.failAll(error)
    listener.stop()
    await Promise.race([Promise.all([session.close().catch(() => {}), output.flushed()]), wait(farewellMs)])
    await upstream.destroy()
    log(`ended with ${code}`)
    exit(code)
  }
}
