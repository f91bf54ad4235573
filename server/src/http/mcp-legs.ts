/** The two legs that keep something between messages, and the announcements that they pass on. */
import { type LegacySessions, legacySessions } from './legacy-sessions.ts'
import { type ModernLeg, modernLeg } from './modern.ts'
import type { Wiring } from './wiring.ts'

/** Both of them. */
export interface McpLegs {
  readonly modern: ModernLeg
  readonly sessions: LegacySessions
  /** Ends every stream and call of both, and stops passing announcements on. */
  close(): Promise<void>
}

/** Makes the legs and passes the core's announcements on to them. */
export function mcpLegs(wiring: Wiring): McpLegs {
  const modern = modernLeg(wiring)
  const sessions = legacySessions(wiring)
  const { events } = wiring.core
  const ends = [
    events.onListChanged((mount, kind) => {
      modern.listChanged(mount, kind)
      sessions.listChanged(mount, kind)
    }),
    events.onResourceChanged((uri) => {
      modern.resourceChanged(uri)
      sessions.resourceChanged(uri)
    }),
  ]
  return {
    modern,
    sessions,
    async close() {
      for (const end of ends) end()
      await Promise.all([modern.close(), sessions.close()])
    },
  }
}
