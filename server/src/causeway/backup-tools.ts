import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { NamedBackup } from '../backup/backups.ts'
import type { CausewayStore } from './store.ts'

const backupShape = {
  name: z.string(),
  folder: z.string(),
  made_at: z.string(),
  version: z.string(),
  files: z.int(),
  bytes: z.int(),
}

export function addBackupTools(app: Registrar<CausewayStore, object>): void {
  app.tool('make_backup', {
    about:
      'Copy the data of every app into a new folder while the server runs, and return its path. Use it before an upgrade; the command `causeway restore` restores it. Caches, logs and secrets are left out.',
    searchHint: 'back up, save all data',
    input: {
      name: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
        .optional()
        .describe('Unused name for the backup, which must not end in .part; default: the time'),
    },
    output: { ...backupShape, summary: z.string() },
    hints: { destructive: false, idempotent: true, openWorld: true },
    task: 'optional',
    example: { args: {} },
    async run({ name }, { store, requestId, signal, progress }) {
      const backup = toResult(await store.core().backups.make(name, requestId, { signal, progress }))
      return {
        ...backup,
        summary: `${backup.files} files with ${backup.bytes} bytes are in ${backup.folder}; to restore them, stop the server and run causeway restore ${backup.folder}.`,
      }
    },
  })

  app.tool('list_backups', {
    about:
      'List the backups of make_backup, newest first. Use it to find one for the command causeway restore.',
    searchHint: 'which backups exist',
    input: {},
    output: { backups: z.array(z.object(backupShape)), summary: z.string() },
    hints: { readOnly: true },
    example: { args: {} },
    async run(_, { store }) {
      const backups = (await store.core().backups.list()).map(toResult)
      const newestText = backups[0] === undefined ? '' : `, the newest of ${backups[0].made_at}`
      return { backups, summary: `${backups.length} backups${newestText}.` }
    },
  })
}

const toResult = ({ name, folder, manifest: { made_at, version, files } }: NamedBackup) => ({
  name,
  folder,
  made_at,
  version,
  files: files.length,
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})
