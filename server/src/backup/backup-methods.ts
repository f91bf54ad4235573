import type { CopyJob } from './copy-data.ts'
import type { Manifest } from './manifest.ts'
import type { Restored, RestoreJob } from './restore-data.ts'

/** What the worker of backups does. */
export interface BackupMethods {
  copy(job: CopyJob): Promise<Manifest>
  restore(job: RestoreJob): Promise<Restored>
}
