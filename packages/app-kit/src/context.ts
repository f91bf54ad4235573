import type { ClientInfo, LogLevel } from '@causeway/protocol'
import type { Input } from './ask.ts'

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Access to files in configured folders, checked after links are resolved. */
export interface Roots {
  folders(): readonly string[]
  /**
   * Returns the real path. Searches a relative path in every folder. Throws `OUTSIDE_ROOTS` (data: path,
   * setting) and `FILE_NOT_FOUND` (data: path, searched).
   */
  resolve(path: string): Promise<string>
}

/** Notifies all clients. The change must be stored first. */
export interface Changes {
  tools(): void
  resources(): void
  resource(uri: string): void
}

/** Facts for the audit: ids, counts and revisions, never secrets or text that a person wrote. */
export type Facts = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>

export interface Env {
  /** Data folder. File names start with the app's name. */
  readonly dir: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Unix milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. */
  readonly monotonicNow?: () => number
  /** @deprecated Use `monotonicNow`. */
  readonly steady?: () => number
  /** Returns a unique id, `[a-z0-9-]+`. */
  readonly newId: () => string
  readonly roots: Roots
  readonly changed: Changes
  call(app: string, tool: string, args: unknown, ctx: CallContext): Promise<unknown>
}

export function numberSetting(settings: Env['settings'], name: string): number | undefined {
  const value = settings[name]
  return typeof value === 'number' ? value : undefined
}

export interface CallContext {
  /** Aborts when the caller cancels, the deadline passes or the server stops. */
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): void
  /** Sends a log message to clients that accept this level. */
  notify(level: LogLevel, data: unknown): void
  readonly log: Log
  /** Unix milliseconds. */
  readonly now: () => number
  readonly client: ClientInfo
  /** Identifies the original client, even when one app calls another. */
  readonly clientKey: string
  /** The client's folder, if its bridge sent it. */
  readonly project?: string
  /** Set if the server requires tokens, so that callers can be different people. */
  readonly hasToken?: true
  /** Name of the caller's token. */
  readonly holder?: string
  /** W3C `traceparent` header. */
  readonly traceparent?: string
  /** Apps treat a call with a repeated id as a repetition, usually for ten minutes. */
  readonly requestId: string
}

export interface ToolContext<Store = unknown, Session = unknown> extends CallContext {
  readonly store: Store
  /** The client's state: plain JSON, changed in place and saved after the call. */
  readonly session: Session
  /** Whether `session` is shared by all callers without a session of their own. */
  readonly sharedSession: boolean
  readonly input: Input
  /** Adds facts to the audit entry, which stores at most 20 items of a list. */
  note(facts: Facts): void
}

export interface ChannelContext<Store = unknown, Session = unknown> extends ToolContext<Store, Session> {
  /** Calls a tool of this app and returns its data. Throws the tool's errors and `UNKNOWN_TOOL`. */
  call(tool: string, args: unknown): Promise<Readonly<Record<string, unknown>>>
}
