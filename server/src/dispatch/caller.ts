import type { Input } from '@causeway/app-kit'
import type { ClientInfo, LogLevel } from '@causeway/protocol'
import type { Access } from '../access/access.ts'
import type { Channel } from '../audit/audit-entry.ts'
import type { Trace } from '../audit/trace.ts'
import type { Mount } from '../registry/mount.ts'

/** `modern`: stateless (MCP 2026-07-28); `legacy`: sessions that start with `initialize`. */
export type Era = 'modern' | 'legacy'

/** `signal` may be created on first access. */
export interface Cancellation {
  readonly signal: AbortSignal
}

export interface Caller {
  readonly mount: Mount
  readonly era: Era
  readonly sessionKey: string
  /** Whether all callers without a session share the key. */
  readonly sharedSession: boolean
  readonly client: ClientInfo
  /** `Causeway-Request`, or an id generated for this call. */
  readonly requestId: string
  readonly cancellation: Cancellation
  readonly access?: Access | undefined
  readonly channel: Channel
  readonly deadlineMs?: number | undefined
  readonly requestBytes?: number | undefined
  readonly trace?: Trace | undefined
  /** Identifies the client for limits and audit. Default: the session key. */
  readonly clientKey?: string | undefined
  readonly project?: string | undefined
  /** Does nothing without a progress token. */
  progress(done: number, total?: number, message?: string): void
  /** Sends a log message if the caller accepts its level. */
  notify(level: LogLevel, data: unknown): void
  /** The server's address for the caller; `undefined` for calls by apps. */
  readonly address?: { readonly baseUrl: string } | undefined
  /** `undefined` if the caller cannot answer questions. */
  readonly input?: Input | undefined
}
