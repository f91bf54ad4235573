/** The resources that one client of the older revisions wants to hear about. */
import { CausewayError, type Params } from '@causeway/protocol'
import type { Result } from '@modelcontextprotocol/server'
import type { Core } from '../core.ts'

/** A client's subscriptions, with the methods by which it changes them. */
export interface Subscriptions {
  readonly methods: Readonly<Record<string, (params: Params) => Promise<Result>>>
  has(uri: string): boolean
  all(): readonly string[]
}

/** Starts with some; `changed` runs after each change. */
export function subscriptions(
  core: Pick<Core, 'hasResource'>,
  { initial = [], changed }: { initial?: readonly string[]; changed?: () => Promise<void> } = {},
): Subscriptions {
  const uris = new Set(initial)
  return {
    methods: {
      async 'resources/subscribe'({ uri }) {
        if (!core.hasResource(checked(uri)))
          throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`, { data: { uri } })
        uris.add(checked(uri))
        await changed?.()
        return {}
      },
      async 'resources/unsubscribe'({ uri }) {
        if (uris.delete(checked(uri))) await changed?.()
        return {}
      },
    },
    has: (uri) => uris.has(uri),
    all: () => [...uris],
  }
}

function checked(uri: unknown): string {
  if (typeof uri === 'string') return uri
  throw new CausewayError('INVALID_PARAMS', 'params.uri is not a string')
}
