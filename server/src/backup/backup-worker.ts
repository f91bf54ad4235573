import { serve } from '@causeway/worker'
import type { BackupMethods } from './backup.ts'
import { copyData } from './copy-data.ts'
import { restoreData } from './restore-data.ts'

serve<BackupMethods>({ copy: copyData, restore: restoreData }, { failure: 'the backup failed' })
