import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, makeRoots, type Roots } from '@causeway/app-kit'
import { writePrivateFile } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import { type Config, type SettingKey, settings } from './config.ts'

const fileName = 'roots.json'

export const addRootCommand = 'causeway roots add'

interface RootGrant {
  readonly folder: string
  /** A variable, or `causeway roots add`. */
  readonly source: string
}

/** Reads the file on each use. Throws `DATA_DAMAGED`. */
export function readAddedRoots(dataDir: string): readonly string[] {
  let text: string
  try {
    text = readFileSync(join(dataDir, fileName), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const folders: unknown = JSON.parse(text)
  if (Array.isArray(folders) && folders.every((folder) => typeof folder === 'string')) return folders
  throw new StoreError('DATA_DAMAGED', `not a list of folders: ${join(dataDir, fileName)}`, {
    remedy: 'correct or remove the file',
  })
}

export function writeAddedRoots(dataDir: string, folders: readonly string[]): void {
  writePrivateFile(join(dataDir, fileName), `${JSON.stringify(folders, null, 2)}\n`)
}

export const makeAppRoots = (app: Pick<App, 'rootsSetting'>, config: Config): Roots =>
  makeRoots(() => listGrants(app, config).map(({ folder }) => folder), app.rootsSetting ?? settings.roots.env)

/** Returns the distinct folders from the app's own setting, the setting for all apps and `causeway roots add`. */
export function listGrants(
  { rootsSetting }: Pick<App, 'rootsSetting'>,
  config: Config,
): readonly RootGrant[] {
  const key = (Object.keys(settings) as SettingKey[]).find((name) => settings[name].env === rootsSetting)
  const appFolders = key === undefined ? [] : (config[key] as readonly string[])
  const grants = [
    ...appFolders.map((folder) => ({ folder, source: rootsSetting ?? '' })),
    ...config.roots.map((folder) => ({ folder, source: settings.roots.env })),
    ...readAddedRoots(config.dataDir).map((folder) => ({ folder, source: addRootCommand })),
  ]
  return grants.filter(({ folder }, index) => grants.findIndex((grant) => grant.folder === folder) === index)
}
