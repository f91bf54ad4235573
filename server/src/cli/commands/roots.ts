import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { settings } from '../../config/config.ts'
import { listGrants, readAddedRoots, writeAddedRoots } from '../../config/roots.ts'
import { type CommandCall, defineCommand } from '../command.ts'

export const rootsCommand = defineCommand({
  name: 'roots',
  about: 'list the folders that each app may read; add or remove one, also while the server runs',
  forms: ['[list]', 'add <folder>', 'remove <folder>'],
  details: `An app reads only files below its roots. Roots come from settings (CAUSEWAY_ROOTS for every app, and a setting of its own
for some apps) and from this command, which adds a folder for every app immediately.`,
  flags: { 'dry-run': { about: 'print the list that add or remove would write, and write nothing' } },
  settings: ['--data-dir', '--roots', '--recording-roots', '--plot-roots', '--trm-roots'],
  exits: { 1: 'the folder to remove was not added by this command' },
  examples: ['causeway roots', 'causeway roots add ~/simulations'],
  async run(call) {
    const { args, flags, config, cwd, print, note } = call
    const [verb, folder] = args
    const { dataDir, roots } = config()
    if (folder === undefined) return list(call)
    const path = resolve(cwd, folder)
    const previousRoots = readAddedRoots(dataDir)
    if (verb === 'remove' && !previousRoots.includes(path)) {
      note(
        roots.includes(path)
          ? `${path} comes from a setting: remove it from ${settings.roots.env}`
          : `${path} was not added`,
      )
      return 1
    }
    const newRoots =
      verb === 'remove'
        ? previousRoots.filter((root) => root !== path)
        : [...new Set([...previousRoots, path])]
    for (const root of newRoots) print(root)
    if (flags['dry-run']) note('nothing written')
    else writeAddedRoots(dataDir, newRoots)
    if (verb === 'add' && !existsSync(path)) note(`the folder does not exist yet: ${path}`)
    return 0
  },
})

async function list({ config, print }: Pick<CommandCall, 'config' | 'print'>): Promise<number> {
  const { apps } = await import('../../apps.ts')
  for (const app of apps) {
    const setting = Object.values(settings).find(({ env }) => env === app.rootsSetting)
    if (setting === undefined) continue
    const grants = listGrants(app, config()).filter(
      ({ source }) => !('app' in setting) || source === setting.env,
    )
    print(app.name)
    if (grants.length === 0) print(`  none: set ${app.rootsSetting}`)
    for (const { folder, source } of grants)
      print(`  ${folder}  (${source}${existsSync(folder) ? '' : ', missing'})`)
  }
  return 0
}
