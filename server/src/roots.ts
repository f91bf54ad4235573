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
export function addRoot(dataDir: string, folder: string): readonly string[] {
  const folders = [...new Set([...addedRoots(dataDir), resolve(folder)])]
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, fileName)
  writeFileSync(`${file}.new`, `${JSON.stringify(folders, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return folders
}

/** What an app may read: the common roots, its own setting's, and the added ones. */
export function rootsOf(app: App, config: Config): Roots {
  const key = (Object.keys(settings) as SettingKey[]).find((name) => settings[name].env === app.rootsSetting)
  const own = key === undefined ? [] : (config[key] as readonly string[])
  return makeRoots(
    () => [...new Set([...own, ...config.roots, ...addedRoots(config.dataDir)])],
    app.rootsSetting ?? settings.roots.env,
  )
}
