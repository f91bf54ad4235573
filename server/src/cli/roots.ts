import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { App } from '@causeway/app-kit'
import type { Config } from '../config.ts'
import { settings } from '../config.ts'
import { addRoot, grantsOf, type RootGrant, removeRoot } from '../roots.ts'
import { type Call, command, misuse } from './command.ts'

export const rootsCommand = command({
  name: 'roots',
  about: 'the folders that each app may read; add or remove one while the server runs',
  forms: ['[list]', 'add <folder>', 'remove <folder>'],
  details: `An app reads files below its roots and nowhere else. They come from settings, CAUSEWAY_ROOTS for every app and one of
its own for some, and from what is added here, which counts for every app at once.`,
  flags: {},
  settings: ['--data-dir', '--roots', '--recording-roots', '--plot-roots', '--trm-roots'],
  exits: { 1: 'the folder to remove was not added here' },
  examples: ['causeway roots', 'causeway roots add ~/simulations'],
  async run(call) {
    const [verb = 'list', folder, ...more] = call.words
    const { dataDir } = call.config()
    if (verb === 'list' && folder === undefined) return list(call)
    if (folder === undefined || more.length > 0 || (verb !== 'add' && verb !== 'remove'))
      throw misuse('roots', `not a form of roots: ${call.words.join(' ')}`)
    const path = resolve(call.cwd, folder)
    if (verb === 'add') return add(dataDir, path, call)
    return remove(call.config(), path, call)
  },
})

function add(dataDir: string, folder: string, { say, note }: Call): number {
  for (const root of addRoot(dataDir, folder)) say(root)
  if (!existsSync(folder)) note(`there is no such folder yet: ${folder}`)
  return 0
}

function remove(config: Config, folder: string, { say, note }: Call): number {
  const left = removeRoot(config.dataDir, folder)
  if (left !== undefined) {
    for (const root of left) say(root)
    return 0
  }
  const { env } = settings.roots
  note(
    config.roots.includes(folder)
      ? `${folder} is not of \`roots add\`: take it out of ${env}`
      : `${folder} was not added`,
  )
  return 1
}

/** A line for each app and folder. */
async function list({ config, say }: Call): Promise<number> {
  const { apps } = await import('../apps.ts')
  for (const app of apps) {
    const grants = readableBy(app, config())
    if (grants === undefined) continue
    say(app.name)
    if (grants.length === 0) say(`  none: set ${app.rootsSetting}`)
    for (const { folder, by } of grants) say(`  ${folder}  (${by}${existsSync(folder) ? '' : ', missing'})`)
  }
  return 0
}

/** What an app reads; undefined for one that reads no files. One whose setting arrives as its own goes by that alone. */
function readableBy(app: Pick<App, 'rootsSetting'>, config: Config): readonly RootGrant[] | undefined {
  const setting = Object.values(settings).find(({ env }) => env === app.rootsSetting)
  if (setting === undefined) return undefined
  const grants = grantsOf(app, config)
  return 'app' in setting ? grants.filter(({ by }) => by === app.rootsSetting) : grants
}
