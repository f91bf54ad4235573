/** The thread that makes and restores backups. */
import { serve } from '@causeway/worker'
import type { BackupMethods } from './backup-methods.ts'
import { copyData } from './copy-data.ts'
import { restoreData } from './restore-data.ts'

serve<BackupMethods>(
  {
    copy: (job, call) => copyData(job, call),
    restore: (job, call) => restoreData(job, call),
  },
  { failure: 'the backup failed' },
)
