import type { OwnedPart } from '../../server/src/domain/data-part.ts'
import { codeSpan, table } from './table.ts'

const kinds: Readonly<Record<OwnedPart['kind'], readonly [kind: string, isInBackup: string]>> = {
  database: ['SQLite', 'yes, copied by SQLite'],
  files: ['files', 'yes'],
  passing: ['files', 'no, it is passing'],
}

/** The table of what lies in the data folder: where, whose it is, and whether a backup has it. */
export const dataTable = (parts: readonly OwnedPart[]): string =>
  table(
    ['path', 'owner', 'what it is', 'in a backup'],
    parts.map(({ path, app, kind }) => [codeSpan(path), app, ...kinds[kind]]),
  )
