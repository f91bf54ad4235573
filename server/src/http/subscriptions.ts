/** The resources that one client of the older revisions wants to hear about. */
import { CausewayError, type Params } from '@causeway/protocol'
import type { Result } from '@modelcontextprotocol/server'
import type { Core } from '../core.ts'
import type { Access } from '../domain/access.ts'
import { methodTask } from '../limit/task.ts'
import { refuseForbidden } from '../scope.ts'

/** A client's subscriptions, with the methods by which it changes them. */
export interface Subscriptions {
  readonly methods: Readonly<Record<string, (params: Params, access: Access | undefined) => Promise<Result>>>
  has(uri: string): boolean
  all(): readonly string[]
}

/** Subscriptions of one client, and the characters of all their URIs: the list is saved whole after each change. */
const maxSubscriptions = 1000
const maxCharacters = 256 * 1024

/** Starts with some; `changed` runs after each change. */
export function subscriptions(
  core: Pick<Core, 'ownerOf'>,
  { initial = [], changed }: { initial?: readonly string[]; changed?: () => Promise<void> } = {},
): Subscriptions {
  const uris = new Set(initial)
  return {
    methods: {
      async 'resources/subscribe'({ uri }, access) {
        if (core.ownerOf(checked(uri)) === undefined)
          throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`, { data: { uri } })
        refuseUnreadable(core, [checked(uri)], access)
        if (uris.has(checked(uri))) return {}
        refuseTooMany([...uris, checked(uri)])
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

/** Throws `FORBIDDEN_SCOPE` for a URI whose app the token may not read: its changes are not for it either. */
export function refuseUnreadable(
  core: Pick<Core, 'ownerOf'>,
  uris: readonly unknown[],
  access: Access | undefined,
): void {
  for (const uri of uris) {
    const owner = typeof uri === 'string' ? core.ownerOf(uri) : undefined
    if (owner !== undefined) refuseForbidden(owner, { access }, methodTask('resources/subscribe'))
  }
}

function refuseTooMany(uris: readonly string[]): void {
  const characters = uris.reduce((sum, uri) => sum + uri.length, 0)
  if (uris.length <= maxSubscriptions && characters <= maxCharacters) return
  throw new CausewayError(
    'INVALID_PARAMS',
    `a session has at most ${maxSubscriptions} subscriptions, with ${maxCharacters} characters of URIs`,
    { remedy: 'unsubscribe from resources that are no longer needed' },
  )
}

function checked(uri: unknown): string {
  if (typeof uri === 'string') return uri
  throw new CausewayError('INVALID_PARAMS', 'params.uri is not a string')
}
