/** What a call is, for limits, access, log and audit. */
import type { AppTool } from '@causeway/app-kit'
import { type Scope, scopeOf } from '../domain/access.ts'

/** One call. */
export interface Task {
  /** For log, metrics and audit: a tool's name, `resources/read`, `route`. */
  readonly what: string
  /** Answers and is done (`tool`, `method`), or a connection that lasts as long as its peers want (`channel`). */
  readonly kind: 'tool' | 'method' | 'channel'
  /** What a token must give for it. */
  readonly needs: Scope
  /** The class of the tool, where it counts in one of its own. */
  readonly limit?: string | undefined
  /** The arguments of a tool: the audit looks for the name of what they are about. */
  readonly args?: unknown
}

/** The task of a route or a socket. */
export type ChannelTask = Task & { readonly what: 'route' | 'socket'; readonly kind: 'channel' }

/** The task of serving a route or a socket. */
export const channelTask = (what: 'route' | 'socket', needs: Scope): ChannelTask => ({
  what,
  kind: 'channel',
  needs,
})

/** The task of calling a tool. */
export const toolTask = (
  { name, limit, annotations }: Pick<AppTool, 'name' | 'limit' | 'annotations'>,
  args: unknown,
): Task => ({
  what: name,
  kind: 'tool',
  needs: scopeOf(annotations),
  limit,
  args,
})

/** The task of answering another method of MCP. */
export const methodTask = (what: string): Task => ({ what, kind: 'method', needs: 'read' })
