import type { ServerLogin } from '@causeway/oauth'
import type { RenderedEndpoint } from './config/index.ts'
import { getListedCapabilities } from './domain/capabilities.ts'
import type { Catalogue } from './domain/catalogue.ts'
import { Instance } from './instances/instance.ts'
import { RestartPolicy } from './instances/restart-policy.ts'
import { createChannel } from './upstream/create-channel.ts'
import { fetchCatalogue } from './upstream/fetch-catalogue.ts'

export interface ProbeOptions {
  readonly server: string
  readonly share: 'shared' | 'project' | 'client' | 'call'
  readonly concurrency?: number
  readonly project?: string
  readonly signal?: AbortSignal
  /** Default: 180 s, because commands may download the server. */
  readonly timeoutMs?: number
  readonly login?: ServerLogin | undefined
  readonly clientInfo: { readonly name: string; readonly version: string }
}

/** Starts a server once and lists it. Throws `UPSTREAM_UNAVAILABLE` with its stderr, and `NEEDS_LOGIN`. */
export async function probeServer(endpoint: RenderedEndpoint, options: ProbeOptions): Promise<Catalogue> {
  const { server, share, concurrency = 8, project, timeoutMs = 180_000, login, clientInfo } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal])
  const now = (): number => performance.now()
  const instance = new Instance({
    ...{ server, key: 'probe', project, concurrency, clientInfo, now },
    capabilities: getListedCapabilities({ share, concurrency, kind: endpoint.kind }),
    isOwned: false,
    idleMs: 0,
    startTimeoutMs: timeoutMs,
    policy: new RestartPolicy({ now, random: Math.random }),
    getEra: () => undefined,
    createChannel: () => createChannel(endpoint, { server, project, now, login, onOutput: () => {} }),
    onReady: () => {},
    onNotification: () => {},
    onFailure: () => {},
  })
  try {
    return await instance.use(signal, async (connection) => {
      const { description } = instance
      if (description === undefined) throw new Error('there was no handshake')
      return fetchCatalogue(connection, description, { signal, onSkipped: () => {} })
    })
  } finally {
    await instance.stop()
  }
}
