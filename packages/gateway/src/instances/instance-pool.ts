import type { ToolContext } from '@causeway/app-kit'
import type { Params } from '@causeway/protocol'
import type { Share } from '../config/index.ts'
import { getClientCapabilities } from '../domain/capabilities.ts'
import { GatewayError } from '../errors.ts'
import type { Instance } from './instance.ts'
import { RestartPolicy } from './restart-policy.ts'

const maxInstances = 32

export interface InstanceRequest {
  readonly key: string
  readonly project: string | undefined
  /** Default: the capabilities that lists depend on. */
  readonly capabilities?: Params | undefined
  readonly isOwned: boolean
  readonly policy: RestartPolicy
}

interface InstancePoolOptions {
  readonly server: string
  readonly share: Share
  readonly now: () => number
  readonly random: () => number
  create(request: InstanceRequest): Instance
}

export type CallOrigin = Pick<ToolContext, 'clientKey' | 'sharedSession' | 'project' | 'input'>

/** Instances of a server: one for all, or per project, client or call. */
export class InstancePool {
  readonly #options: InstancePoolOptions
  readonly #instances = new Map<string, Instance>()
  readonly #policies = new Map<string, RestartPolicy>()
  readonly #endPromises = new Set<Promise<void>>()
  #callCount = 0

  constructor(options: InstancePoolOptions) {
    this.#options = options
  }

  get instances(): readonly Instance[] {
    return [...this.#instances.values()]
  }

  getShared(): Instance {
    return this.#get('', { project: undefined, isOwned: false })
  }

  /** Throws `TOO_MANY_INSTANCES`. */
  find({ clientKey, sharedSession, project, input }: CallOrigin): Instance {
    const { share } = this.#options
    if (share === 'shared') return this.getShared()
    if (share === 'project') return this.#get(project ?? '', { project, isOwned: false })
    const clientCapabilities = { ...getClientCapabilities(input.can), roots: {} }
    // Callers without a session cannot be distinguished, so they receive no questions.
    const capabilities = sharedSession && share === 'client' ? { roots: {} } : clientCapabilities
    if (share === 'call') this.#callCount += 1
    const key = share === 'client' ? `${clientKey} ${project ?? ''}` : `call ${this.#callCount}`
    return this.#get(key, { project, isOwned: share === 'call' || !sharedSession, capabilities })
  }

  release(instance: Instance): void {
    if (this.#options.share !== 'call') return
    this.#instances.delete(instance.key)
    this.#end(instance)
  }

  endClient(clientKey: string, idleMs: number): void {
    if (this.#options.share !== 'client') return
    for (const [key, instance] of this.#instances)
      if (key.startsWith(`${clientKey} `)) instance.limitIdleTime(idleMs)
  }

  getPolicy(key: string): RestartPolicy {
    // Instances of single calls share a policy.
    const owner = this.#options.share === 'call' ? '' : key
    const existing = this.#policies.get(owner)
    if (existing !== undefined) return existing
    const policy = new RestartPolicy(this.#options)
    this.#policies.set(owner, policy)
    return policy
  }

  async stop(): Promise<void> {
    const { instances } = this
    this.#instances.clear()
    this.#policies.clear()
    await Promise.all([...instances.map((instance) => instance.end()), ...this.#endPromises])
  }

  #get(key: string, request: Omit<InstanceRequest, 'key' | 'policy'>): Instance {
    const existing = this.#instances.get(key)
    if (existing !== undefined) return existing
    this.#removeIdle()
    const instance = this.#options.create({ ...request, key, policy: this.getPolicy(key) })
    this.#instances.set(key, instance)
    return instance
  }

  /** Removes unused instances. At the limit, also stops the least recently used instance. */
  #removeIdle(): void {
    for (const [key, instance] of this.#instances)
      if (instance.isUnused) {
        this.#instances.delete(key)
        this.#end(instance)
      }
    for (const [key, policy] of this.#policies)
      if (policy.isRecovered && !this.#instances.has(key)) this.#policies.delete(key)
    if (this.#instances.size < maxInstances) return
    const unusedInstances = this.instances.filter(({ userCount: users }) => users === 0)
    const [oldestInstance] = unusedInstances.sort((a, b) => a.lastUsedMs - b.lastUsedMs)
    if (oldestInstance === undefined)
      throw new GatewayError(
        'TOO_MANY_INSTANCES',
        `${this.#options.server} has ${maxInstances} running instances`,
        { data: { server: this.#options.server, instances: maxInstances } },
      )
    this.#instances.delete(oldestInstance.key)
    this.#end(oldestInstance)
  }

  #end(instance: Instance): void {
    const endPromise = instance.end().finally(() => this.#endPromises.delete(endPromise))
    this.#endPromises.add(endPromise)
  }
}
