/**
 * What the channels (HTTP today) see of the server: the one place where a message enters and an answer leaves.
 *
 * A channel reads its wire, builds a `Caller`, calls `dispatch`, and writes what comes back. It knows no app.
 */
import type { AppRoute, AppSocket, AppTool, Cache, ChannelContext, Input } from '@causeway/app-kit'
import type { CallToolResult, ClientInfo, LogLevel, Params } from '@causeway/protocol'
import type { AuditQuery, StoredEntry } from './audit/audit-store.ts'
import type { Backups } from './backup/backup-types.ts'
import type { Access } from './domain/access.ts'
import type { Channel } from './domain/audit-entry.ts'
import type { Trace } from './domain/trace.ts'
import type { ChannelTask } from './limit/task.ts'
import type { TaskStore } from './tasks/task-store.ts'

/** A place where tools are served: `/mcp` with every app under wire names, or `/mcp/<app>` under bare names. */
export interface Mount {
  readonly path: '/mcp' | `/mcp/${string}`
  /** The app of a bare mount; absent on the shared one. */
  readonly app?: string
}

/** Stateless messages (2026-07-28) or sessions that opened with `initialize`. */
export type Era = 'modern' | 'legacy'

/** One call's origin: all that dispatch may know of the channel. */
export interface Caller {
  readonly mount: Mount
  readonly era: Era
  /** Key of the state that belongs to this client: a header's value, a session id, or `anonymous`. */
  readonly sessionKey: string
  /** True when the key is the one that all callers without a session share. */
  readonly sharedSession: boolean
  readonly client: ClientInfo
  /** `Causeway-Request`, or made for this call. */
  readonly requestId: string
  readonly signal: AbortSignal
  /** What its token gives; absent where none is needed, and for what an app does by itself. */
  readonly access?: Access | undefined
  /** By which way it came. */
  readonly channel: Channel
  /** Milliseconds that the caller gives it at most. */
  readonly deadlineMs?: number | undefined
  /** Bytes of the request that brought it, where that is known. */
  readonly requestBytes?: number | undefined
  /** The W3C trace that it belongs to. */
  readonly trace?: Trace | undefined
  /** Names the client for limits and audit, where it calls through an app; the session key else. */
  readonly clientKey?: string | undefined
  /** Sends progress to the caller; does nothing where it gave no progress token. */
  progress(done: number, total?: number, message?: string): void
  /** Sends a message to the caller while the call runs; does nothing where it does not want it. */
  notify(level: LogLevel, data: unknown): void
  /** What the caller has replied so far, and may be asked; absent on a channel that cannot ask. */
  readonly input?: Input | undefined
}

/** Which list changed. */
export type ListKind = 'tools' | 'resources' | 'prompts'

/** Announcements, after the fact. Each subscription returns its end. */
export interface CoreEvents {
  onListChanged(listener: (mount: Mount, kind: ListKind) => void): () => void
  onResourceChanged(listener: (uri: string) => void): () => void
}

/** What `initialize` and `server/discover` say of a mount. */
export interface MountDescription {
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string }
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string
}

/** A handshake that can be taken up again after a restart of the server. */
export interface SavedHandshake {
  readonly sessionId: string
  /** Owner of the token that opened the session; empty if no token was required. */
  readonly owner: string
  readonly mountPath: string
  /** The params of `initialize`, as the client sent them. */
  readonly initialize: Params
  /** URIs that the client has subscribed to. */
  readonly subscriptions: readonly string[]
}

/** Handshakes of `initialize` sessions, kept in the server's data file; forgotten after a day without use. */
export interface Handshakes {
  save(handshake: SavedHandshake): Promise<void>
  /** Returns `undefined` if the owner has no such session, or if it has expired. Counts as use. */
  find(sessionId: string, owner: string): Promise<SavedHandshake | undefined>
  forget(sessionId: string): Promise<void>
}

/** An enabled app, for plain HTTP. */
export interface HostedApp {
  readonly name: string
  /** Lower case, as in paths. */
  readonly path: string
  readonly about: string
  readonly tools: readonly AppTool[]
  readonly routes: readonly AppRoute[]
  readonly sockets: readonly AppSocket[]
  /** The name by which the app is known where it is a server of its own. */
  readonly service?: string
}

/** How one app is: `ok` or `failed`, and what it says of itself. */
export interface AppHealth {
  readonly status: string
  readonly [more: string]: unknown
}

/** The answer of `/health`. */
export interface HealthReport {
  readonly status: 'ok' | 'degraded'
  readonly version: string
  readonly pid: number
  readonly uptime_s: number
  readonly data_dir: string
  readonly apps: Readonly<Record<string, AppHealth>>
  readonly [more: string]: unknown
}

/** The server without its channels. */
export interface Core {
  /** Every mount that is served now. */
  mounts(): readonly Mount[]
  /**
   * Answers one MCP method: ping, tools/*, resources/* (subscriptions are the channel's), prompts/*,
   * completion/complete, logging/setLevel.
   *
   * Gives the JSON-RPC `result`, or an `Ask` where the caller has `input` and the call needs replies first. What a tool
   * says, errors included, is a result with `isError`. Throws a `CausewayError` for what is wrong with the envelope:
   * unknown method, tool, prompt, resource, params, cursor; any other error is a defect, for the channel to log.
   */
  dispatch(method: string, params: Params, caller: Caller): Promise<unknown>
  /** The whole `result` of the first page of `tools/list`, serialised once per change. */
  toolList(mount: Mount, era: Era): { readonly json: string; readonly hash: string }
  describe(mount: Mount): MountDescription
  /** A tool by any name that the mount's callers may use. */
  tool(mount: Mount, name: string): AppTool | undefined
  readonly events: CoreEvents
  readonly handshakes: Handshakes
  /** Calls that clients ask after; kept in the server's data file. */
  readonly tasks: TaskStore
  /** 32 bytes, the same for the life of the data folder: signs what a client keeps for us. */
  readonly signingKey: Uint8Array
  apps(): readonly HostedApp[]
  /** A tool by app path or name and tool name or alias, for REST; dispatched like any other call. */
  callTool(app: string, tool: string, args: unknown, caller: Caller): Promise<CallToolResult>
  /** Runs one of an app's own routes, or a step of one of its sockets, with the context that a tool gets, and more. */
  withContext<T>(
    app: string,
    caller: Caller,
    task: ChannelTask,
    run: (ctx: ChannelContext) => Promise<T>,
  ): Promise<T>
  /** The path of the app whose resource or template matches the URI. */
  ownerOf(uri: string): string | undefined
  /** Discovers again, now. */
  refresh(): Promise<{ readonly changed: boolean; readonly hash: string }>
  /** Whether memory is short, and caches of a channel to be guarded with all others. */
  readonly memory: { isShort(): boolean; add(cache: Cache): void }
  /** Backups of the data folder. */
  readonly backups: Backups
  /** The calls that were made, newest first. */
  audit(query: AuditQuery): Promise<readonly StoredEntry[]>
  /** Throws nothing: an app that fails is reported. */
  health(): Promise<HealthReport>
  /** One app's part of the report; throws `ROUTE_NOT_FOUND` for an app that is not served. */
  appHealth(app: string): Promise<AppHealth>
  /** Prometheus text exposition, and the content type that goes with it. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>
  /** Counts a request that a channel turned away, by what there was too little of. */
  turnedAway(want: string): void
}
