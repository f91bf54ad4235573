import { openConnections } from '../http/connections.ts'
import { openCredentials } from '../http/credentials.ts'
import type { Fields } from '../http/headers.ts'
import { supportOlderServers } from '../http/older-server.ts'
import { resolveTarget } from '../http/target.ts'
import { addFields, createUpstream, type Upstream, type UpstreamOptions } from '../http/upstream.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { UpstreamLogin } from '../login/upstream-login.ts'
import { ClientView } from '../session/client-view.ts'
import { removeInvalidTools } from '../session/remove-invalid-tools.ts'
import type { Settings } from '../settings/settings.ts'
import { EraSwitch } from './eras/era-switch.ts'
import type { Stage } from './stage.ts'
import { ToolFilter } from './tool-filter.ts'

interface FeatureOptions extends Pick<UpstreamOptions, 'backpressure' | 'onResponse'> {
  readonly env: NodeJS.ProcessEnv
  readonly identity: Fields
  readonly log: Log
  readonly warn: (text: string) => void
}

interface UpstreamWithStages {
  readonly upstream: Upstream
  readonly stages: readonly Stage[]
}

/** Throws `INVALID_SETTING` if a file or connection cannot be opened. */
export async function openFeatures(settings: Settings, options: FeatureOptions): Promise<UpstreamWithStages> {
  const { connection, credentials, record, tools, url } = settings
  const { env, identity, backpressure, onResponse, log, warn } = options
  const target = resolveTarget(url)
  if (connection.insecure)
    warn('WARNING: TLS verification is disabled (--insecure): traffic can be intercepted')
  const view = settings.selectsView ? new ClientView(target.path, log) : undefined
  const recorder = record === undefined ? undefined : new (await import('./record.ts')).Recorder(record, log)
  const stages: Stage[] = view === undefined ? [] : [view.stage]
  if (recorder !== undefined) stages.push(recorder.stage)
  if (tools.only.length + tools.ignore.length > 0) stages.push((next) => new ToolFilter(next, tools))
  if (settings.offlineList) stages.push(await openOfflineList(url, { env, view, log }))
  stages.push((next) => new EraSwitch(next, warn), removeInvalidTools(warn))

  const getCredentials = openCredentials(credentials, log)
  const connections = await openConnections(target, connection, env)
  const maxMessageBytes = settings.maxLine || Number.POSITIVE_INFINITY
  let upstream = createUpstream({ url, maxMessageBytes, connections, backpressure, onResponse })
  if (getCredentials().authorization === undefined && url.protocol !== 'unix:')
    upstream = new UpstreamLogin(settings, env).wrap(upstream)
  upstream = view?.wrap(upstream) ?? upstream
  upstream = recorder?.wrap(upstream) ?? upstream
  upstream = addFields(upstream, () => Object.assign({}, getCredentials(), identity))
  return { upstream: supportOlderServers(upstream, log), stages }
}

async function openOfflineList(
  url: URL,
  { env, view, log }: Pick<FeatureOptions, 'env' | 'log'> & { readonly view: ClientView | undefined },
): Promise<Stage> {
  const { OfflineList, OfflineStore, getOfflineStorePath } = await import('./offline-list.ts')
  const store = new OfflineStore(getOfflineStorePath(url, env), log)
  return (next) => new OfflineList(next, store, () => view?.path ?? '')
}
