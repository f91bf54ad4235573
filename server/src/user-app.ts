/**
 * Apps of the user's own, named in the settings by path or package name.
 *
 * A user app imports `@causeway/app-kit` and `zod` without installing them: a resolve hook gives it the server's. When a
 * file of the app has changed, it is loaded again; if that fails, the last good one stays.
 */
import { stat } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { App } from '@causeway/app-kit'
import { asCausewayError, CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'

/** Packages that a user app gets from the server. */
const provided = ['@causeway/app-kit', '@causeway/app-kit/testing', '@causeway/protocol', 'zod'] as const

/** The user's apps. */
export interface UserApps {
  /** What could be loaded, in the order of the setting. */
  apps(): readonly App[]
  /** What could not be loaded, and why. */
  failures(): readonly { readonly name: string; readonly error: CausewayError }[]
  /** Loads what has changed; gives the apps that are new. Never rejects: failures are kept and logged. */
  reload(): Promise<readonly App[]>
  close(): void
}

interface Source {
  /** As the user wrote it. */
  readonly name: string
  readonly folder: string
  readonly entry: string
  /** File URLs that were loaded for it. */
  readonly files: Set<string>
  version: number
  app: App | undefined
  error: CausewayError | undefined
}

/** Loads every app of the list; relative paths start at `cwd`. */
export async function openUserApps(
  names: readonly string[],
  { cwd, log }: { cwd: string; log: Logger },
): Promise<UserApps> {
  const sources = names.map((name) => sourceOf(name, cwd))
  const hooks = sources.length > 0 ? hookResolution(sources) : undefined

  const load = async (source: Source): Promise<App | undefined> => {
    try {
      const version = await newest(source)
      if (version === source.version) return undefined
      source.version = version
      const app = readApp(source.name, await import(`${source.entry}?version=${version}`))
      source.app = app
      source.error = undefined
      return app
    } catch (error) {
      source.error = loadError(source.name, error)
      log.error({ app: source.name, err: error }, 'the user app could not be loaded')
      return undefined
    }
  }

  await Promise.all(sources.map(load))
  return {
    apps: () => sources.flatMap(({ app }) => app ?? []),
    failures: () => sources.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }])),
    reload: async () => (await Promise.all(sources.map(load))).filter((app) => app !== undefined),
    close: () => hooks?.deregister(),
  }
}

function sourceOf(name: string, cwd: string): Source {
  const isPath = isAbsolute(name) || name.startsWith('.') || /\.[cm]?[jt]s$/.test(name)
  const file = isPath ? resolve(cwd, name) : createRequire(resolve(cwd, 'package.json')).resolve(name)
  return {
    name,
    folder: pathToFileURL(`${dirname(file)}/`).href,
    entry: pathToFileURL(file).href,
    files: new Set([pathToFileURL(file).href]),
    version: 0,
    app: undefined,
    error: undefined,
  }
}

/** The newest change of any file of the app, ms since the epoch. */
async function newest({ files }: Source): Promise<number> {
  const times = await Promise.all([...files].map(async (file) => (await stat(fileURLToPath(file))).mtimeMs))
  return Math.max(...times)
}

/** Gives user apps the provided packages, and passes their version on to the files that they import. */
function hookResolution(sources: readonly Source[]): { deregister(): void } {
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      const source = sources.find(({ folder }) => context.parentURL?.startsWith(folder))
      if (source === undefined) return nextResolve(specifier, context)
      if ((provided as readonly string[]).includes(specifier))
        return { url: import.meta.resolve(specifier), format: 'module', shortCircuit: true }
      const resolved = nextResolve(specifier, context)
      const [file = ''] = resolved.url.split('?')
      if (!file.startsWith(source.folder) || file.includes('/node_modules/')) return resolved
      source.files.add(file)
      return { ...resolved, url: `${file}${new URL(context.parentURL as string).search}` }
    },
  })
}

function readApp(name: string, module: { default?: unknown }): App {
  const app = module.default as Partial<App> | undefined
  if (typeof app?.name === 'string' && Array.isArray(app.tools) && typeof app.open === 'function')
    return app as App
  throw new CausewayError('INVALID_APP', `the module has no app as its default export: ${name}`, {
    remedy: 'write `export default defineApp(...)`',
  })
}

function loadError(name: string, error: unknown): CausewayError {
  const coded = asCausewayError(error)
  if (coded.code !== 'INTERNAL') return coded
  return new CausewayError('INVALID_APP', `${(error as Error).message}: ${name}`, {
    remedy: 'correct the module, then refresh the registry',
    cause: error,
  })
}
