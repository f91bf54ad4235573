import type { AppTool } from '@causeway/app-kit'
import { getToolScope, type Scope } from '../access/access.ts'

export interface Operation {
  /** A tool, a method such as `resources/read`, `route` or `socket`. */
  readonly name: string
  /** `channel`: a connection without a deadline. */
  readonly kind: 'tool' | 'method' | 'channel'
  readonly scope: Scope
  readonly rateClass?: string | undefined
  readonly args?: unknown
}

export const createChannelOperation = (name: 'route' | 'socket', scope: Scope): Operation => ({
  name,
  kind: 'channel',
  scope,
})

export const createToolOperation = (
  { name, limit, annotations }: Pick<AppTool, 'name' | 'limit' | 'annotations'>,
  args: unknown,
): Operation => ({ name, kind: 'tool', scope: getToolScope(annotations), rateClass: limit, args })

export const createMethodOperation = (name: string): Operation => ({ name, kind: 'method', scope: 'read' })
