/** Opens and closes the apps; one that cannot be opened is kept with its reason and hurts no other. */
import type { App, Env } from '@causeway/app-kit'
import { asCausewayError, CausewayError, pathName } from '@causeway/protocol'
import { dataFailure } from '@causeway/store'
import type { Logger } from 'pino'

/** An app together with its open store, or with the reason why there is none. */
export interface Hosted {
  readonly app: App
  /** Lower case, as in `/mcp/<path>`. */
  readonly path: string
  readonly store: unknown
  readonly failure: CausewayError | undefined
}

/** The apps that are served now. */
export interface Host {
  apps(): readonly Hosted[]
  /** By name or path; undefined for an app that is not enabled. */
  find(name: string): Hosted | undefined
  /**
   * Puts an app in the place of the one with the same name, or adds it. The old one is closed after the new one is
   * open; if the new one does not open, the old one stays and the error is thrown.
   */
  put(app: App): Promise<void>
  /** Opens again what could not be opened. */
  reopen(): Promise<void>
  close(): Promise<void>
}

/** Opens every app, all at once; `envOf` gives each what it may use. */
export async function openHost(
  apps: readonly App[],
  { envOf, log }: { envOf: (app: App) => Env; log: Logger },
): Promise<Host> {
  const hosted = new Map<string, Hosted>()

  const tryOpen = async (app: App, others: readonly App[]): Promise<Hosted> => {
    const path = pathName(app.name)
    try {
      refuseSecondOwner(app, others)
      return { app, path, store: await app.open(envOf(app)), failure: undefined }
    } catch (error) {
      log.error({ app: app.name, err: error }, 'the app could not be opened')
      return {
        app,
        path,
        store: undefined,
        failure: asCausewayError(dataFailure(error, `data of ${app.name}`)),
      }
    }
  }

  const shut = async ({ app, store, failure }: Hosted): Promise<void> => {
    if (failure !== undefined) return
    await app
      .close(store)
      .catch((error: unknown) => log.error({ app: app.name, err: error }, 'closing the app failed'))
  }

  const open = async (list: readonly App[]): Promise<void> => {
    const others = appsOf(hosted).filter((app) => !list.includes(app))
    const opened = await Promise.all(
      list.map((app, index) => tryOpen(app, [...others, ...list.slice(0, index)])),
    )
    for (const one of opened) hosted.set(one.path, one)
  }

  await open(apps)
  return {
    apps: () => [...hosted.values()],
    find: (name) => hosted.get(pathName(name)),
    async put(app) {
      const old = hosted.get(pathName(app.name))
      hosted.delete(pathName(app.name))
      const next = await tryOpen(app, appsOf(hosted))
      if (next.failure !== undefined && old !== undefined) {
        hosted.set(old.path, old)
        throw next.failure
      }
      hosted.set(next.path, next)
      if (old !== undefined) await shut(old)
    },
    reopen: () =>
      open([...hosted.values()].filter(({ failure }) => failure !== undefined).map(({ app }) => app)),
    async close() {
      await Promise.all([...hosted.values()].map(shut))
      hosted.clear()
    },
  }
}

/** The store of an app; throws `APP_UNAVAILABLE` with the reason where it could not be opened. */
export function storeOf({ app, store, failure }: Hosted): unknown {
  if (failure === undefined) return store
  throw new CausewayError('APP_UNAVAILABLE', `${app.name} could not be opened: ${failure.message}`, {
    remedy: failure.remedy,
    data: { app: app.name, reason: failure.code },
    cause: failure,
  })
}

const appsOf = (hosted: ReadonlyMap<string, Hosted>): App[] => [...hosted.values()].map(({ app }) => app)

function refuseSecondOwner(app: App, others: readonly App[]): void {
  for (const { template } of app.resources) {
    const owner = others.find(({ resources }) =>
      resources.some((resource) => resource.template.scheme === template.scheme),
    )
    if (owner !== undefined)
      throw new CausewayError(
        'INVALID_APP',
        `${app.name} declares ${template.scheme}://, which belongs to ${owner.name}`,
      )
  }
}
