import type { Logger } from 'pino'
import type { Core } from '../host/core.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { InFlightRequests } from './in-flight.ts'
import type { InputCodec } from './mcp/input-codec.ts'
import type { ToolLists } from './mcp/responses.ts'

export interface HttpServices {
  readonly core: Core
  readonly toolLists: ToolLists
  readonly log: Logger
  readonly inFlight: InFlightRequests
  readonly inputCodec: InputCodec
  readonly tasks: Tasks
  /** Aborts after a shutdown's grace period, to end open streams. */
  readonly stopping: AbortSignal
  /** Whether plain JSON calls on an app's port get the error numbers of its original design. */
  readonly legacyErrors: boolean
  /** Whether plain tool calls and lists bypass the SDK. Tests compare both paths. */
  readonly hasFastPath: boolean
  /** Interval of keep-alive comments on an event stream. */
  readonly keepAliveMs: number
  /** Maximum number of sessions in memory, of event streams, and of sockets. */
  readonly maxSessions: number
  /** After this time, an unused session is removed from memory. */
  readonly sessionIdleMs: number
  /** A session's tool call that takes longer gets an event stream, which can be resumed. */
  readonly quickCallMs: number
}
