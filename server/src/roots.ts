/** The folders that apps may read: those of the settings, and those added while running by `causeway roots add`. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type App, makeRoots, type Roots } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { type Config, type SettingKey, settings } from './config.ts'

const fileName = 'roots.json'

/** Folders added by hand, absolute; read anew on each use, so that an addition counts at once. */
export function addedRoots(dataDir: string): readonly string[] {
  let text: string
  try {
    text = readFileSync(join(dataDir, fileName), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const folders: unknown = JSON.parse(text)
  if (Array.isArray(folders) && folders.every((folder) => typeof folder === 'string')) return folders
  throw new CausewayError('DATA_DAMAGED', `not a list of folders: ${join(dataDir, fileName)}`, {
    remedy: 'correct or remove the file',
  })
}

/** Adds a folder for every app; gives the list as it is then. */
export const addRoot = (dataDir: string, folder: string): readonly string[] =>
  write(dataDir, [...new Set([...addedRoots(dataDir), resolve(folder)])])

/** Takes back an added folder, which counts at once too; gives the list as it is then, undefined where it was not in it. */
export function removeRoot(dataDir: string, folder: string): readonly string[] | undefined {
  const before = addedRoots(dataDir)
  const folders = before.filter((one) => one !== resolve(folder))
  return folders.length === before.length ? undefined : write(dataDir, folders)
}

function write(dataDir: string, folders: readonly string[]): readonly string[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, fileName)
  writeFileSync(`${file}.new`, `${JSON.stringify(folders, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return folders
}

/** What an app may read: the common roots, its own setting's, and the added ones. */
export const rootsOf = (app: Pick<App, 'rootsSetting'>, config: Config): Roots =>
  makeRoots(() => grantsOf(app, config).map(({ folder }) => folder), app.rootsSetting ?? settings.roots.env)

/** A folder that an app may read, with what names it: a variable, or `causeway roots add`. */
export interface RootGrant {
  readonly folder: string
  readonly by: string
}

/** Every folder that an app may read, each once. */
export function grantsOf({ rootsSetting }: Pick<App, 'rootsSetting'>, config: Config): readonly RootGrant[] {
  const key = (Object.keys(settings) as SettingKey[]).find((name) => settings[name].env === rootsSetting)
  const own = key === undefined ? [] : (config[key] as readonly string[])
  const grants = [
    ...own.map((folder) => ({ folder, by: rootsSetting ?? '' })),
    ...config.roots.map((folder) => ({ folder, by: settings.roots.env })),
    ...addedRoots(config.dataDir).map((folder) => ({ folder, by: addCommand })),
  ]
  return grants.filter(({ folder }, at) => grants.findIndex((grant) => grant.folder === folder) === at)
}

/** What names the folders that were added by hand. */
export const addCommand = 'causeway roots add'
