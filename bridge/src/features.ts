import { type Connections, openConnections } from './connections.ts'
import { openCredentials } from './credentials.ts'
import type { Log } from './debug-log.ts'
import type { Fields } from './headers.ts'
import { openRecorder } from './record.ts'
import type { Settings } from './settings.ts'
import { soundTools } from './sound-tools.ts'
import type { Stage } from './stage.ts'
import { createStats, type Stats } from './stats.ts'
import { targetOf } from './target.ts'
import { toolFilter } from './tool-filter.ts'
import { eraSwitch } from './translate/era-switch.ts'
import type { Upstream } from './upstream.ts'

/** What the settings ask for around the relay itself. */
export interface Features {
  readonly connections: Connections
  /** The fields that a person has set for every request; asked for before each. */
  readonly fields: () => Fields
  /** What stands between the client and the relay, the first nearest to the client. */
  readonly stages: readonly Stage[]
  readonly stats: Stats
  /** Lets the recorder see what passes to the server and back. */
  watch(upstream: Upstream, common: () => Fields): Upstream
}

interface Parts {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  /** Tells the person who starts the bridge. */
  readonly warn: (text: string) => void
  /** Milliseconds on any steady clock. */
  readonly now: () => number
}

/** Opens files and connections as set; throws `INVALID_SETTING` for what cannot be opened. */
export async function openFeatures(settings: Settings, { env, log, warn, now }: Parts): Promise<Features> {
  const { connection, credentials, record, tools, url } = settings
  if (connection.insecure)
    warn(
      'WARNING: certificates are not checked (--insecure): whoever is on the way reads and changes everything',
    )
  const stats = createStats(now)
  const recorder = record === undefined ? undefined : openRecorder(record, { now: () => new Date(), log })
  const hasGlobs = tools.only.length + tools.ignore.length > 0
  return {
    connections: await openConnections(targetOf(url), connection, env),
    fields: openCredentials(credentials, log),
    stages: [
      stats.stage,
      ...(recorder ? [recorder.stage] : []),
      ...(hasGlobs ? [toolFilter(tools)] : []),
      ...(settings.offlineList ? [await openOfflineList(url, { env, log })] : []),
      eraSwitch({ retryMs: 1000 }),
      soundTools(warn),
    ],
    stats,
    watch: (upstream, common) => recorder?.watch(upstream, common) ?? upstream,
  }
}

/** A server that is up answers a list well within this time. */
const patienceMs = 500

async function openOfflineList(url: URL, { env, log }: Pick<Parts, 'env' | 'log'>): Promise<Stage> {
  const { offlineStorePath, openOfflineStore } = await import('./offline-store.ts')
  const { offlineList } = await import('./offline-list.ts')
  const store = openOfflineStore(offlineStorePath(url, env), { now: () => new Date(), log })
  return offlineList({ store, patienceMs, retryMs: 1000 })
}
