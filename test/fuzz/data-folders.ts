/** Folders with data for every app: recordings, plots, projects, pages, and a folder outside all roots. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { repository } from '../tree.ts'

/** URL names of the apps. */
export const appPaths = ['causeway', 'replay', 'help', 'minds', 'debrief', 'toolvault', 'trm']

/** Fewer than the maximum number of open recordings, because starting workers repeatedly would slow down the test. */
const recordings = ['drop', 'slide_at_45', 'stack', 'incline_slides', 'incline_sticks', 'nan']

/** Creates the folders. `settings` configures a server for them. */
export function createDataFolders(base: string) {
  const folder = (...names: string[]): string => join(base, ...names)
  const folders = {
    data: folder('data'),
    roots: folder('roots'),
    projects: folder('projects'),
    pages: folder('roots', 'pages'),
    outside: folder('outside'),
  }
  for (const one of Object.values(folders)) mkdirSync(one, { recursive: true })
  for (const name of ['plots', 'tracks'])
    cpSync(join(repository, 'fixtures', name), folder('roots', name), { recursive: true })
  cpSync(join(repository, 'fixtures', 'projects'), folders.projects, { recursive: true })
  mkdirSync(folder('roots', 'recordings'))
  for (const name of recordings)
    cpSync(
      join(repository, 'fixtures', 'recordings', `${name}.db`),
      folder('roots', 'recordings', `${name}.db`),
    )
  writeFileSync(
    join(folders.pages, 'start.md'),
    '# Starting\n\nStart the server, then connect a client to it.\n',
  )
  writeFileSync(join(folders.pages, 'limits.md'), '# Limits\n\nCalls a second are limited for each client.\n')
  const link = 'way_out'
  for (const place of [
    folders.roots,
    folder('roots', 'plots'),
    folder('roots', 'recordings'),
    folder('projects', 'sums'),
  ])
    symlinkSync(folders.outside, join(place, link))
  const settings = {
    CAUSEWAY_RECORDING_ROOTS: folder('roots', 'recordings'),
    CAUSEWAY_PLOT_ROOTS: [folder('roots', 'plots'), folder('roots', 'tracks')].join(delimiter),
    CAUSEWAY_TRM_ROOTS: folders.projects,
    // Complete commands: all other commands must be rejected.
    CAUSEWAY_TRM_COMMANDS: 'true|false|env|python3 -m unittest|exit [0-9]',
    CAUSEWAY_HELP_SOURCES: `pages=${folders.pages}`,
    CAUSEWAY_HELP_BUILD: 'true',
  }
  return { ...folders, link, settings }
}
