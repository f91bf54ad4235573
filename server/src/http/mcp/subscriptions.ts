import { CausewayError, type Params } from '@causeway/protocol'
import type { Result } from '@modelcontextprotocol/server'
import type { Access } from '../../access/access.ts'
import { checkAccess } from '../../dispatch/call-runner.ts'
import type { Caller } from '../../dispatch/caller.ts'
import { createMethodOperation } from '../../dispatch/operation.ts'
import type { Core } from '../../host/core.ts'
import type { Change, Mount } from '../../registry/mount.ts'

/** Not an `interface`, so that the SDK accepts it as a record. */
export type Notification = { readonly method: string; readonly params?: Record<string, unknown> }

type ResourceOwners = Pick<Core, 'findResourceOwner'>
type Resources = ResourceOwners & Pick<Core, 'subscribe'>

/** Limited, because the whole list is saved after each change. */
const maxSubscriptions = 1000
const maxCharacters = 256 * 1024

/** Subscriptions of MCP 2025-11-25 and older. */
export class Subscriptions {
  readonly #core: Resources
  readonly #uris: Set<string>
  readonly #unsubscribeCallbacks = new Map<string, () => void>()
  readonly #onChange: (() => Promise<void>) | undefined

  constructor(
    core: Resources,
    { initial = [], onChange }: { initial?: readonly string[]; onChange?: () => Promise<void> } = {},
  ) {
    this.#core = core
    this.#uris = new Set(initial)
    this.#onChange = onChange
  }

  get uris(): readonly string[] {
    return [...this.#uris]
  }

  /** Returns `undefined` if this mount's clients do not receive the change. */
  toNotification(change: Change, mount: Mount): Notification | undefined {
    if ('uri' in change)
      return this.#uris.has(change.uri)
        ? { method: 'notifications/resources/updated', params: { uri: change.uri } }
        : undefined
    const { path } = change.mount
    return path === mount.path ? { method: `notifications/${change.list}/list_changed` } : undefined
  }

  /** Returns `undefined` unless `method` subscribes or unsubscribes. */
  handle(method: string, { uri }: Params, caller: Caller): Promise<Result> | undefined {
    if (method === 'resources/subscribe') return this.#subscribe(uri, caller)
    if (method === 'resources/unsubscribe') return this.#unsubscribe(uri)
    this.#restore(caller)
    return undefined
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribeCallbacks.values()) unsubscribe()
    this.#unsubscribeCallbacks.clear()
    this.#uris.clear()
  }

  /** Subscribes again after a restart. The apps need the client, which only a request identifies. */
  #restore(caller: Caller): void {
    if (this.#unsubscribeCallbacks.size === this.#uris.size) return
    for (const uri of this.#uris)
      if (!this.#unsubscribeCallbacks.has(uri))
        this.#unsubscribeCallbacks.set(uri, this.#core.subscribe(uri, caller))
  }

  async #subscribe(value: unknown, caller: Caller): Promise<Result> {
    const uri = checkUri(value)
    if (this.#core.findResourceOwner(uri) === undefined)
      throw new CausewayError('RESOURCE_NOT_FOUND', `no such resource: ${uri}`, { data: { uri } })
    checkReadAccess(this.#core, [uri], caller.access)
    this.#restore(caller)
    if (this.#uris.has(uri)) return {}
    checkLimits([...this.#uris, uri])
    this.#unsubscribeCallbacks.set(uri, this.#core.subscribe(uri, caller))
    this.#uris.add(uri)
    await this.#onChange?.()
    return {}
  }

  async #unsubscribe(value: unknown): Promise<Result> {
    const uri = checkUri(value)
    this.#unsubscribeCallbacks.get(uri)?.()
    this.#unsubscribeCallbacks.delete(uri)
    if (this.#uris.delete(uri)) await this.#onChange?.()
    return {}
  }
}

/** Throws `FORBIDDEN_SCOPE` if the token may not read the resource's app. */
export function checkReadAccess(
  core: ResourceOwners,
  uris: readonly unknown[],
  access: Access | undefined,
): void {
  for (const uri of uris) {
    const owner = typeof uri === 'string' ? core.findResourceOwner(uri) : undefined
    if (owner !== undefined) checkAccess(access, owner, createMethodOperation('resources/subscribe'))
  }
}

function checkLimits(uris: readonly string[]): void {
  const characters = uris.reduce((sum, uri) => sum + uri.length, 0)
  if (uris.length <= maxSubscriptions && characters <= maxCharacters) return
  throw new CausewayError(
    'INVALID_PARAMS',
    `a session has at most ${maxSubscriptions} subscriptions, with ${maxCharacters} characters of URIs`,
    { remedy: 'unsubscribe from resources that are no longer needed' },
  )
}

function checkUri(uri: unknown): string {
  if (typeof uri === 'string') return uri
  throw new CausewayError('INVALID_PARAMS', 'params.uri is not a string')
}
