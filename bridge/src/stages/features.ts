import { type Connections, openConnections } from '../http/connections.ts'
import { openCredentials } from '../http/credentials.ts'
import type { Fields } from '../http/headers.ts'
import { resolveTarget } from '../http/target.ts'
import type { Upstream } from '../http/upstream.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { createLoginFetch } from '../login/login-fetch.ts'
import { findLoginFolder, UpstreamLogin } from '../login/upstream-login.ts'
import { ClientView } from '../session/client-view.ts'
import { removeInvalidTools } from '../session/remove-invalid-tools.ts'
import type { Settings } from '../settings/settings.ts'
import { EraSwitch } from './eras/era-switch.ts'
import { Recorder } from './record.ts'
import type { Stage } from './stage.ts'
import { ToolFilter } from './tool-filter.ts'

/** Configured connections and stages. */
export interface Features {
  readonly connections: Connections
  /** Absent if the configured headers contain a token. */
  readonly login: UpstreamLogin | undefined
  /** Returns the configured headers; called before each request. */
  readonly fields: () => Fields
  /** Returns the path of the client's view; absent if it is that of the URL. */
  readonly path: (() => string) | undefined
  /** The first stage is next to the client, the last next to the relay. */
  readonly stages: readonly Stage[]
  /** Adds a fallback to the full view, and with `--record` records the traffic. */
  watch(upstream: Upstream, common: () => Fields): Upstream
}

interface FeatureOptions {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly warn: (text: string) => void
}

/** Throws `INVALID_SETTING` if a file or connection cannot be opened. */
export async function openFeatures(
  settings: Settings,
  { env, log, warn }: FeatureOptions,
): Promise<Features> {
  const { connection, credentials, record, tools, url } = settings
  const target = resolveTarget(url)
  if (connection.insecure)
    warn('WARNING: TLS verification is disabled (--insecure): traffic can be intercepted')
  const view = settings.choosesView ? new ClientView(target.path, log) : undefined
  const recorder = record === undefined ? undefined : new Recorder(record, log)
  const stages: Stage[] = view === undefined ? [] : [view.stage]
  if (recorder !== undefined) stages.push(recorder.stage)
  if (tools.only.length + tools.ignore.length > 0) stages.push((next) => new ToolFilter(next, tools))
  if (settings.offlineList) stages.push(await openOfflineList(url, { env, view, log }))
  stages.push((next) => new EraSwitch(next, warn), removeInvalidTools(warn))
  const fields = openCredentials(credentials, log)
  const usesLogin = fields().authorization === undefined && url.protocol !== 'unix:'
  return {
    connections: await openConnections(target, connection, env),
    login: usesLogin
      ? new UpstreamLogin({
          url,
          ...settings.oauth,
          folder: findLoginFolder(env),
          fetch: createLoginFetch(connection, env),
        })
      : undefined,
    fields,
    path: view && (() => view.path),
    stages,
    watch(upstream, common) {
      const viewed = view?.watch(upstream) ?? upstream
      return recorder?.watch(viewed, common) ?? viewed
    },
  }
}

async function openOfflineList(
  url: URL,
  { env, view, log }: Pick<FeatureOptions, 'env' | 'log'> & { readonly view: ClientView | undefined },
): Promise<Stage> {
  const { OfflineList, OfflineStore, offlineStorePath } = await import('./offline-list.ts')
  const store = new OfflineStore(offlineStorePath(url, env), log)
  return (next) => new OfflineList(next, store, () => view?.path ?? '')
}
