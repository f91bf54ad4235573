import { resolve } from 'node:path'
import { byteText } from './byte-text.ts'
import { command, misuse } from './command.ts'
import { interruption, progressLine } from './watching.ts'

export const backupCommand = command({
  name: 'backup',
  about: 'copy all data into a new folder, even while a server runs',
  forms: ['<folder>'],
  details: `Each database is as it was at one moment, and every file of the copy is checked by its hash when it is restored. What
can be made again (caches, logs) is left out, and so is the key that signs what the server hands to clients.`,
  flags: { 'with-secrets': { about: 'with the key that the server signs with' } },
  settings: ['--data-dir'],
  exits: { 1: 'nothing was copied: the reason is told' },
  examples: ['causeway backup ~/backups/causeway-monday'],
  async run({ words: [folder, ...more], flags, config, cwd, say }) {
    if (folder === undefined || more.length > 0) throw misuse('backup', 'one folder is to be named')
    const [{ backup, partsOf }, { apps }] = await Promise.all([
      import('../backup/backup.ts'),
      import('../apps.ts'),
    ])
    const target = resolve(cwd, folder)
    const progress = progressLine()
    try {
      const { files } = await backup(config().dataDir, target, partsOf(apps), {
        withSecrets: flags['with-secrets'],
        onProgress: progress.show,
        signal: interruption(),
      })
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      progress.end()
      say(`backed up: ${files.length} files, ${byteText(bytes)}: ${target}`)
    } finally {
      progress.end()
    }
    return 0
  },
})
