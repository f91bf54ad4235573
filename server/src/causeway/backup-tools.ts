/** Backups of everything that the apps keep, made while they work; `causeway restore` puts one back. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { NamedBackup } from '../backup/backup-types.ts'
import type { Own } from './own.ts'

const shown = {
  name: z.string(),
  folder: z.string(),
  made_at: z.string(),
  version: z.string(),
  files: z.int(),
  bytes: z.int(),
}

/** `make_backup` and `list_backups`. */
export function backupTools(app: Registrar<Own, object>): void {
  app.tool('make_backup', {
    about:
      'Copies the data of every app, while they work, into a folder of its own; the command causeway restore puts it back. Caches, logs and secrets are left out.',
    input: {
      name: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
        .optional()
        .describe('new name of the backup, which does not end in .part; default: the time'),
    },
    output: { ...shown, summary: z.string() },
    hints: { destructive: false, idempotent: true, openWorld: true },
    task: 'optional',
    example: { args: {} },
    async run({ name }, { store, requestId, signal, progress }) {
      const onProgress = (done: number, total: number, file: string): void => progress(done, total, file)
      const made = shownBackup(await store.core().backups.make(name, requestId, { signal, onProgress }))
      return {
        ...made,
        summary: `${made.files} files with ${made.bytes} bytes are in ${made.folder}; with the server stopped, causeway restore ${made.folder} puts them back.`,
      }
    },
  })

  app.tool('list_backups', {
    about: 'The backups that make_backup made, newest first.',
    input: {},
    output: { backups: z.array(z.object(shown)), summary: z.string() },
    hints: { readOnly: true },
    example: { args: {} },
    async run(_, { store }) {
      const backups = (await store.core().backups.list()).map(shownBackup)
      const newest = backups[0] === undefined ? '' : `, the newest of ${backups[0].made_at}`
      return { backups, summary: `${backups.length} backups${newest}.` }
    },
  })
}

const shownBackup = ({ name, folder, manifest: { made_at, version, files } }: NamedBackup) => ({
  name,
  folder,
  made_at,
  version,
  files: files.length,
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})
