/** What the routes share: made once in `server.ts`, handed to every plugin. */
import type { Logger } from 'pino'
import type { Core } from '../core.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { Asking } from './asking.ts'
import type { Inflight } from './inflight.ts'
import type { ToolListAnswers } from './tool-list.ts'

/** The core, the log, and the limits of the wire. */
export interface Wiring {
  readonly core: Core
  readonly toolLists: ToolListAnswers
  readonly log: Logger
  readonly inflight: Inflight
  readonly asking: Asking
  readonly tasks: Tasks
  /** Aborts when stopping waits no longer: for what has no end of its own. */
  readonly stopping: AbortSignal
  /** True where failures of plain calls on the port of an app are told under the numbers of the original designs. */
  readonly legacyErrors: boolean
  /** Milliseconds between the comments that keep an idle stream open. */
  readonly keepAliveMs: number
  /** Sessions held in memory at once; the least recently used one makes room. */
  readonly maxSessions: number
  /** Milliseconds without a request or an open stream after which a session leaves the memory. */
  readonly sessionIdleMs: number
  /** Milliseconds after which a plain call of a session gets a stream, which can be kept open and resumed. */
  readonly plainMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** A new unique id. */
  readonly newId: () => string
}
