/** The legs that keep something between messages, and the announcements that they pass on. */
import { type LegacySessions, legacySessions } from './legacy-sessions.ts'
import { type ModernLeg, modernLeg } from './modern.ts'
import { type SsePeers, ssePeers } from './sse.ts'
import type { Wiring } from './wiring.ts'

/** All of them. */
export interface McpLegs {
  readonly modern: ModernLeg
  readonly sessions: LegacySessions
  readonly sse: SsePeers
  /** Ends every stream and call of all, and stops passing announcements on. */
  close(): Promise<void>
}

/** Makes the legs and passes the core's announcements on to them. */
export function mcpLegs(wiring: Wiring): McpLegs {
  const modern = modernLeg(wiring)
  const sessions = legacySessions(wiring)
  const sse = ssePeers()
  const legs = [modern, sessions, sse]
  const { events } = wiring.core
  const ends = [
    events.onListChanged((mount, kind) => {
      for (const leg of legs) leg.listChanged(mount, kind)
    }),
    events.onResourceChanged((uri) => {
      for (const leg of legs) leg.resourceChanged(uri)
    }),
  ]
  return {
    modern,
    sessions,
    sse,
    async close() {
      for (const end of ends) end()
      await Promise.all(legs.map((leg) => leg.close()))
    },
  }
}
