import { resolve } from 'node:path'
import { leftBeside } from '../backup/data-folder.ts'
import { command, misuse } from './command.ts'
import { interruption, progressLine } from './watching.ts'

export const restoreCommand = command({
  name: 'restore',
  about: 'put a backup in the place of the data folder, all of it or nothing',
  forms: ['<folder>'],
  details: `The backup is checked before anything is changed. No server may run on the data folder. What is there stays: it is
moved beside the folder, and the place is told. One that was cut short leaves <data>.restoring or <data>.before-<time>
beside the data folder: no server starts on a folder that is missing then. Run it again, which begins anew.`,
  flags: { replace: { about: 'move data that is there aside; without it that is refused' } },
  settings: ['--data-dir'],
  exits: { 1: 'nothing was restored: the reason is told' },
  examples: ['causeway stop && causeway restore ~/backups/causeway-monday --replace'],
  async run({ words: [folder, ...more], flags, config, cwd, say, note }) {
    if (folder === undefined || more.length > 0) throw misuse('restore', 'one folder is to be named')
    const [{ partsOf, restore }, { apps }] = await Promise.all([
      import('../backup/backup.ts'),
      import('../apps.ts'),
    ])
    const { dataDir } = config()
    const progress = progressLine()
    try {
      const { manifest, movedTo } = await restore(resolve(cwd, folder), dataDir, partsOf(apps), {
        replace: flags.replace,
        onProgress: progress.show,
        signal: interruption(),
      })
      progress.end()
      say(`restored: ${manifest.files.length} files of ${manifest.made_at}: ${dataDir}`)
      if (movedTo !== undefined) note(`what was there before is in ${movedTo}`)
      for (const path of leftBeside(dataDir)) if (path !== movedTo) note(`an earlier restore left ${path}`)
    } finally {
      progress.end()
    }
    return 0
  },
})
