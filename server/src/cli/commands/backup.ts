import { resolve } from 'node:path'
import { hasData, listLeftovers } from '../../backup/data-folder.ts'
import { defineCommand } from '../command.ts'
import { formatBytes } from '../format.ts'
import { ProgressLine } from '../progress-line.ts'

export const backupCommand = defineCommand({
  name: 'backup',
  about: 'copy all data into a new folder, also while a server runs',
  forms: ['<folder>'],
  details: `Each database is copied in one consistent state. restore checks every file by its hash. Data that can be rebuilt (caches,
logs) and the key that signs data for clients are left out.`,
  flags: {
    'with-secrets': { about: 'include the signing key of the server' },
    'dry-run': { about: 'print the files that would be copied, and copy nothing' },
  },
  exits: { 1: 'nothing was copied; the error states the reason' },
  examples: ['causeway backup ~/backups/causeway-monday'],
  async run({ args, flags, config, cwd, print, note, getInterruptSignal }) {
    const [folder = ''] = args
    const [{ backup, listParts }, { apps }] = await loadBackup()
    const target = resolve(cwd, folder)
    if (flags['dry-run']) {
      const { dataDir } = config()
      const { listFiles } = await import('../../backup/data-part.ts')
      const files = await listFiles(dataDir, listParts(apps))
      for (const { path, bytes } of files) print(`${path}  ${formatBytes(bytes)}`)
      note(`nothing copied: ${target}`)
      return 0
    }
    const { files } = await withProgress((progress) =>
      backup(config().dataDir, target, listParts(apps), {
        withSecrets: flags['with-secrets'],
        progress,
        signal: getInterruptSignal(),
      }),
    )
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    print(`backed up: ${files.length} files, ${formatBytes(bytes)}: ${target}`)
    return 0
  },
})

export const restoreCommand = defineCommand({
  name: 'restore',
  about: 'replace the data folder with a backup, completely or not at all',
  forms: ['<folder>'],
  details: `The backup is checked before anything is changed. No server may run on the data folder. Existing data is not deleted:
it is moved to a folder next to the data folder, and the command prints its path. An interrupted restore leaves
<data>.restoring or <data>.before-<time> next to the data folder, and no server starts if the data folder is then missing.
Run the command again; it starts over.`,
  flags: {
    replace: { about: 'move existing data aside; without this flag the command fails if there is any' },
    'dry-run': { about: 'print the files of the backup and what would be moved, and change nothing' },
  },
  exits: { 1: 'nothing was restored; the error states the reason' },
  examples: ['causeway stop && causeway restore ~/backups/causeway-monday --replace'],
  async run({ args, flags, config, cwd, print, note, getInterruptSignal }) {
    const [folder = ''] = args
    const [{ listParts, restore }, { apps }] = await loadBackup()
    const { dataDir } = config()
    if (flags['dry-run']) {
      const { readManifest } = await import('../../backup/manifest.ts')
      const { files, made_at: madeAt } = await readManifest(resolve(cwd, folder))
      for (const { path, bytes } of files) print(`${path}  ${formatBytes(bytes)}`)
      if (hasData(dataDir)) note(`existing data would be moved aside with --replace: ${dataDir}`)
      note(`nothing restored: backup of ${madeAt}`)
      return 0
    }
    const { manifest, movedTo } = await withProgress((progress) =>
      restore(resolve(cwd, folder), dataDir, listParts(apps), {
        replace: flags.replace,
        progress,
        signal: getInterruptSignal(),
      }),
    )
    print(`restored: ${manifest.files.length} files of ${manifest.made_at}: ${dataDir}`)
    if (movedTo !== undefined) note(`the previous data is in ${movedTo}`)
    for (const path of listLeftovers(dataDir)) if (path !== movedTo) note(`an earlier restore left ${path}`)
    return 0
  },
})

const loadBackup = () => Promise.all([import('../../backup/backup.ts'), import('../../apps.ts')])

type Progress = (doneBytes: number, total?: number, file?: string) => void

async function withProgress<Result>(work: (progress: Progress) => Promise<Result>): Promise<Result> {
  const line = new ProgressLine()
  try {
    return await work((doneBytes, total = 0, file = '') =>
      line.update(`${formatBytes(doneBytes)} of ${formatBytes(total)}  ${file}`),
    )
  } finally {
    line.clear()
  }
}
