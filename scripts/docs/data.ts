import type { OwnedPart } from '../../server/src/backup/data-part.ts'
import { codeSpan, table } from './table.ts'

const kinds: Readonly<Record<OwnedPart['kind'], readonly [kind: string, isInBackup: string]>> = {
  database: ['SQLite', 'yes, copied by SQLite'],
  files: ['files', 'yes'],
  passing: ['files', 'no, transient'],
}

/** Returns the table of the data folder's parts: path, owner, kind, and whether backups include it. */
export const dataTable = (parts: readonly OwnedPart[]): string =>
  table(
    ['path', 'owner', 'kind', 'in a backup'],
    parts.map(({ path, app, kind }) => [codeSpan(path), app, ...kinds[kind]]),
  )
