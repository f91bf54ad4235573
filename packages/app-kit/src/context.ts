/** What the host gives to an app: once when it is opened, and with every call. */
import type { ClientInfo, LogLevel } from '@causeway/protocol'
import type { Input } from './ask.ts'

/** Structured log; the first argument holds fields, the second the sentence. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** File access below configured folders, checked after links are resolved. */
export interface Roots {
  /** The folders, absolute, as they are configured now. */
  folders(): readonly string[]
  /**
   * The real path of an existing file or folder below a root. A relative path is looked for under every root.
   * Throws `OUTSIDE_ROOTS` (data: path, setting) and `FILE_NOT_FOUND` (data: path, searched).
   */
  resolve(path: string): Promise<string>
}

/** Announcements of an app to every connected client; hints, sent after the change is stored. */
export interface Changes {
  /** The list of tools is another one: discover again now. */
  tools(): void
  /** The list of resources is another one. */
  resources(): void
  /** The content behind one URI is another one. */
  resource(uri: string): void
}

/** Ids, counts and revisions; what a person wrote or a secret has no place in them. */
export type Facts = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>

/** What an app may use of the host for as long as it is open. */
export interface Env {
  /** The data folder; an app keeps its files there under its own name. Absolute. */
  readonly dir: string
  /** The app's settings, validated, by name. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds from any beginning, on a clock that is never set; without it, `now` is trusted not to jump. */
  readonly steady?: () => number
  /** A new unique id, `[a-z0-9-]+`. */
  readonly newId: () => string
  readonly roots: Roots
  readonly changed: Changes
  /** Calls a tool of another app as a client would: limits, audit and cancellation apply. Gives its data. */
  call(app: string, tool: string, args: unknown, ctx: CallContext): Promise<unknown>
}

/** The part of a call that does not depend on the app. */
export interface CallContext {
  /** Aborts when the caller cancels, the deadline passes or the server stops. */
  readonly signal: AbortSignal
  /** Reports progress; `total` is left out while it is unknown. */
  progress(done: number, total?: number, message?: string): void
  /** Tells the client something while the call runs; it arrives where the client wants messages of this level. */
  notify(level: LogLevel, data: unknown): void
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Who calls, as the client says itself. */
  readonly client: ClientInfo
  /** Names the client among all: limits and audit go by it, through every app that a call passes. */
  readonly clientKey: string
  /** The name of the token that the caller has shown; absent where it has none, or none is asked for. */
  readonly holder?: string
  /** The W3C trace that the call belongs to, for what the app asks of others; absent where the caller named none. */
  readonly traceparent?: string
  /** Names this call: a repeat under the same id within ten minutes is the same call. */
  readonly requestId: string
}

/** What a tool gets with each call. */
export interface ToolContext<Store = unknown, Session = unknown> extends CallContext {
  /** The app's state, shared by every client. */
  readonly store: Store
  /** The state of this one client: plain JSON, changed in place, saved by the host after the call. */
  readonly session: Session
  /** True when the caller has no session of its own: then `session` is shared by all such callers. */
  readonly sharedSession: boolean
  /** What the client has replied to the questions of the run before. */
  readonly input: Input
  /** Adds facts to this call's entry in the audit: a plot's name, its revision before and after, at most 20 ids. */
  note(facts: Facts): void
}

/** What a route or a socket gets with each request or frame. */
export interface ChannelContext<Store = unknown, Session = unknown> extends ToolContext<Store, Session> {
  /**
   * Calls one of the app's own tools for this client: its state, limits and audit apply as to any other call.
   * Gives the data of the answer; throws `UNKNOWN_TOOL` and what the tool throws.
   */
  call(tool: string, args: unknown): Promise<Readonly<Record<string, unknown>>>
}
