import { stat } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { App } from '@causeway/app-kit'
import { asCausewayError, CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'

const providedPackages: readonly string[] = [
  '@causeway/app-kit',
  '@causeway/app-kit/testing',
  '@causeway/protocol',
  'zod',
]

interface Source {
  /** Path or package name. */
  readonly name: string
  readonly folder: string
  readonly entry: string
  readonly files: Set<string>
  version: number
  app: App | undefined
  error: CausewayError | undefined
}

export interface AppFailure {
  readonly name: string
  readonly error: CausewayError
}

/** Apps from the settings. If a changed app cannot be reloaded, its previous version remains in use. */
export class UserApps {
  readonly #sources: readonly Source[]
  readonly #log: Logger
  readonly #hooks: { deregister(): void } | undefined

  private constructor(sources: readonly Source[], log: Logger) {
    this.#sources = sources
    this.#log = log
    this.#hooks = sources.length > 0 ? registerResolver(sources) : undefined
  }

  static async load(names: readonly string[], { cwd, log }: { cwd: string; log: Logger }): Promise<UserApps> {
    const userApps = new UserApps(
      names.map((name) => createSource(name, cwd)),
      log,
    )
    await userApps.reload()
    return userApps
  }

  get apps(): readonly App[] {
    return this.#sources.flatMap(({ app }) => app ?? [])
  }

  get failures(): readonly AppFailure[] {
    return this.#sources.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }]))
  }

  /** Reloads and returns changed apps. Logs failures. */
  async reload(): Promise<readonly App[]> {
    const loadedApps = await Promise.all(this.#sources.map((source) => this.#load(source)))
    return loadedApps.filter((app) => app !== undefined)
  }

  close(): void {
    this.#hooks?.deregister()
  }

  async #load(source: Source): Promise<App | undefined> {
    try {
      const version = await findLatestChange(source)
      if (version === source.version) return undefined
      source.version = version
      const app = getApp(source.name, await import(`${source.entry}?version=${version}`))
      source.app = app
      source.error = undefined
      return app
    } catch (error) {
      source.error = toLoadError(source.name, error)
      this.#log.error({ app: source.name, err: error }, 'the user app could not be loaded')
      return undefined
    }
  }
}

function createSource(name: string, cwd: string): Source {
  const isPath = isAbsolute(name) || name.startsWith('.') || /\.[cm]?[jt]s$/.test(name)
  const file = isPath ? resolve(cwd, name) : createRequire(resolve(cwd, 'package.json')).resolve(name)
  const entry = pathToFileURL(file).href
  return {
    name,
    folder: pathToFileURL(`${dirname(file)}/`).href,
    entry,
    files: new Set([entry]),
    version: 0,
    app: undefined,
    error: undefined,
  }
}

async function findLatestChange({ files }: Source): Promise<number> {
  const changeTimes = await Promise.all(
    [...files].map(async (file) => (await stat(fileURLToPath(file))).mtimeMs),
  )
  return Math.max(...changeTimes)
}

/** Adds the version to the URLs of files, so that Node loads them again. */
function registerResolver(sources: readonly Source[]): { deregister(): void } {
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      const source = sources.find(({ folder }) => context.parentURL?.startsWith(folder))
      if (source === undefined) return nextResolve(specifier, context)
      if (providedPackages.includes(specifier))
        return { url: import.meta.resolve(specifier), format: 'module', shortCircuit: true }
      const result = nextResolve(specifier, context)
      const [file = ''] = result.url.split('?')
      if (!file.startsWith(source.folder) || file.includes('/node_modules/')) return result
      source.files.add(file)
      return { ...result, url: `${file}${new URL(context.parentURL as string).search}` }
    },
  })
}

function getApp(name: string, module: { default?: unknown }): App {
  const app = module.default as Partial<App> | undefined
  if (typeof app?.name === 'string' && Array.isArray(app.tools) && typeof app.open === 'function')
    return app as App
  throw new CausewayError('INVALID_APP', `the module has no app as its default export: ${name}`, {
    remedy: 'write `export default defineApp(...)`',
  })
}

function toLoadError(name: string, error: unknown): CausewayError {
  const causewayError = asCausewayError(error)
  if (causewayError.code !== 'INTERNAL') return causewayError
  return new CausewayError('INVALID_APP', `${(error as Error).message}: ${name}`, {
    remedy: 'correct the module, then refresh the registry',
    cause: error,
  })
}
