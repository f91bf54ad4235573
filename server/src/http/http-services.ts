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
  /** Aborts when the grace period of a shutdown ends, for responses without an end. */
  readonly stopping: AbortSignal
  /** Whether errors of plain JSON calls on the port of an app have the numbers of the original designs. */
  readonly legacyErrors: boolean
  /** Whether plain tool calls and tool lists bypass the SDK. Tests disable it to compare the responses. */
  readonly hasFastPath: boolean
  /** Interval of the comments that keep an idle event stream open. */
  readonly keepAliveMs: number
  /** Maximum number of sessions in memory, of open event streams, and of open sockets. */
  readonly maxSessions: number
  /** A session without requests and streams for this time is removed from memory. */
  readonly sessionIdleMs: number
  /** A tool call of a session that takes longer gets an event stream, which can be resumed. */
  readonly quickCallMs: number
}
