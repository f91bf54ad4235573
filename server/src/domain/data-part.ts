/** Which part of the data folder a file belongs to. */
import type { DataPart } from '@causeway/app-kit'

/** A part with its owner. */
export interface OwnedPart extends DataPart {
  readonly app: string
}

/** How a file of the data folder is treated. */
export interface Treatment {
  readonly kind: DataPart['kind']
  /** The part that names it; absent for a file that no app named. */
  readonly part?: OwnedPart
}

/** Names of files that exist only while a process uses another file. */
const passingName = /(-wal|-shm|-journal|\.part|\.tmp|\.new|\.lock)$/

const markerName = /^(.+)\.initialized$/

/** Returns how a file is treated, by its path below the data folder. The first part that matches applies. */
export function treatmentOf(path: string, parts: readonly OwnedPart[]): Treatment {
  if (passingName.test(path) || findMarkedDatabase(path, parts) !== undefined) return { kind: 'passing' }
  const part = parts.find((one) => fits(path, one.path))
  if (part !== undefined) return { kind: part.kind, part }
  return { kind: path.endsWith('.db') ? 'database' : 'files' }
}

/** Returns the path of the database that a marker belongs to; `undefined` for any other file. */
export function findMarkedDatabase(path: string, parts: readonly OwnedPart[]): string | undefined {
  const [, file] = markerName.exec(path) ?? []
  return file !== undefined && treatmentOf(file, parts).kind === 'database' ? file : undefined
}

/** `recordings/a.db` fits `recordings/*.db`, `recordings/` and itself. */
function fits(path: string, pattern: string): boolean {
  if (pattern.endsWith('/')) return path.startsWith(pattern)
  const [before, after] = pattern.split('*')
  if (before === undefined || after === undefined) return path === pattern
  const middle = path.slice(before.length, path.length - after.length)
  return path.startsWith(before) && path.endsWith(after) && middle !== '' && !middle.includes('/')
}

/** The place of a file in the order of copying: that of its part, and what nobody named comes last. */
export const orderOf = ({ part }: Treatment, parts: readonly OwnedPart[]): number =>
  part === undefined ? parts.length : parts.indexOf(part)

/** The first migration of a file that a program with this schema does not know. */
export const unknownMigration = (applied: readonly string[], schema: readonly string[]): string | undefined =>
  applied.find((name, index) => schema[index] !== name)

/** A path as a manifest may name it: below its folder, divided by `/`, the same on every system. */
export const isPlainPath = (path: string): boolean =>
  path !== '' &&
  !/[\\\0:]/.test(path) &&
  path.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
