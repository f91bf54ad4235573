import type { App, Env } from '@causeway/app-kit'
import { asCausewayError, CausewayError, pathName, reservedPaths } from '@causeway/protocol'
import { toDataError } from '@causeway/store'
import type { Logger } from 'pino'
import type { OwnedCache } from '../memory/memory-guard.ts'
import type { ErrorCatalog } from './error-catalog.ts'

export interface AppInstance {
  readonly app: App
  readonly path: string
  readonly store: unknown
  readonly failure: CausewayError | undefined
}

interface AppHostOptions {
  readonly createEnv: (app: App) => Env
  readonly errors: ErrorCatalog
  readonly log: Logger
}

/** An app that fails to open does not affect others. */
export class AppHost {
  readonly #options: AppHostOptions
  readonly #instances = new Map<string, AppInstance>()

  constructor(options: AppHostOptions) {
    this.#options = options
  }

  get instances(): readonly AppInstance[] {
    return [...this.#instances.values()]
  }

  get caches(): readonly OwnedCache[] {
    return this.instances.flatMap(({ app, path, store, failure }) =>
      failure === undefined ? app.caches(store).map((cache) => ({ owner: path, cache })) : [],
    )
  }

  find(name: string): AppInstance | undefined {
    return this.#instances.get(pathName(name))
  }

  async open(apps: readonly App[]): Promise<void> {
    const otherApps = this.#apps.filter((app) => !apps.includes(app))
    const openedInstances = await Promise.all(
      apps.map((app, index) => this.#open(app, [...otherApps, ...apps.slice(0, index)])),
    )
    for (const instance of openedInstances) this.#instances.set(instance.path, instance)
  }

  async reopenFailed(): Promise<void> {
    await this.open(this.instances.filter(({ failure }) => failure !== undefined).map(({ app }) => app))
  }

  /** Opens an app, then closes its previous version. If it fails to open, throws and keeps the previous version. */
  async replace(app: App): Promise<void> {
    const path = pathName(app.name)
    const previous = this.#instances.get(path)
    const otherApps = this.#apps.filter((candidate) => candidate !== previous?.app)
    const next = await this.#open(app, otherApps)
    if (next.failure !== undefined && previous !== undefined) throw next.failure
    this.#instances.set(path, next)
    if (previous !== undefined) await this.#close(previous)
  }

  async remove(path: string): Promise<void> {
    const instance = this.#instances.get(path)
    this.#instances.delete(path)
    if (instance !== undefined) await this.#close(instance)
  }

  async close(): Promise<void> {
    await Promise.all(this.instances.map((instance) => this.#close(instance)))
    this.#instances.clear()
  }

  get #apps(): App[] {
    return this.instances.map(({ app }) => app)
  }

  async #open(app: App, otherApps: readonly App[]): Promise<AppInstance> {
    const { createEnv, errors, log } = this.#options
    const path = pathName(app.name)
    try {
      if (reservedPaths.has(path))
        throw new CausewayError('INVALID_APP', `/mcp/${path} does not name an app; rename ${app.name}`)
      checkResourceSchemes(app, otherApps)
      errors.add(app)
      return { app, path, store: await app.open(createEnv(app)), failure: undefined }
    } catch (error) {
      log.error({ app: app.name, err: error }, 'the app could not be opened')
      const failure = asCausewayError(toDataError(error, `data of ${app.name}`))
      return { app, path, store: undefined, failure }
    }
  }

  async #close({ app, store, failure }: AppInstance): Promise<void> {
    if (failure !== undefined) return
    await app.close(store).catch((err: unknown) => {
      this.#options.log.error({ app: app.name, err }, 'closing the app failed')
    })
  }
}

export function getStore({ app, store, failure }: AppInstance): unknown {
  if (failure === undefined) return store
  throw new CausewayError('APP_UNAVAILABLE', `${app.name} could not be opened: ${failure.message}`, {
    remedy: failure.remedy,
    data: { app: app.name, reason: failure.code },
    cause: failure,
  })
}

/** Throws `INVALID_APP` if another app has declared the scheme. */
function checkResourceSchemes(app: App, otherApps: readonly App[]): void {
  for (const { template } of app.resources) {
    const owner = otherApps.find(({ resources }) =>
      resources.some((resource) => resource.template.scheme === template.scheme),
    )
    if (owner !== undefined)
      throw new CausewayError(
        'INVALID_APP',
        `${app.name} declares ${template.scheme}://, which belongs to ${owner.name}`,
      )
  }
}
