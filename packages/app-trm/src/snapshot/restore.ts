import type { CausewayError } from '@causeway/protocol'
import { formatCount } from '../domain/format.ts'
import { TrmError } from '../errors.ts'
import { type FileLocation, locate } from '../workspace/file-location.ts'
import { type Replacement, removeTemporaryFiles, replaceFiles } from '../workspace/replace-files.ts'
import type { Contents } from './contents.ts'
import {
  createAbsentEntry,
  hasSameContent,
  isSameEntry,
  type Manifest,
  readEntry,
  type SnapshotEntry,
} from './snapshot-entry.ts'

export interface RestoreReport {
  /** Sorted paths whose content or mode changed. */
  readonly restored: readonly string[]
  readonly deleted: readonly string[]
}

interface RestoreOptions {
  /** The expected state on disk. Files with other contents are conflicts. */
  readonly expected: Manifest | undefined
  readonly paths?: readonly string[] | undefined
  readonly force?: boolean | undefined
}

interface Difference {
  readonly entry: SnapshotEntry
  readonly current: SnapshotEntry
  readonly location: FileLocation
}

export async function restore(
  contents: Contents,
  { root, entries }: Manifest,
  { expected, paths, force = false }: RestoreOptions,
): Promise<RestoreReport> {
  const selectedPaths = paths && new Set(paths)
  const differences = await findDifferences(
    root,
    entries.filter(({ path, kind }) => kind !== 'other' && (selectedPaths?.has(path) ?? true)),
  )
  checkConflicts(differences, expected, force)
  for (const { location } of differences) await removeTemporaryFiles(location.absolutePath)
  const changed = differences.map(({ entry }) => entry)
  await replaceFiles(
    root,
    differences.map(({ entry, location }) => ({ location, replacement: createReplacement(contents, entry) })),
    async () => checkUnchanged(differences, await findDifferences(root, changed)),
  )
  const isAbsent = ({ kind }: SnapshotEntry) => kind === 'absent'
  return {
    restored: changed.filter((entry) => !isAbsent(entry)).map(({ path }) => path),
    deleted: changed.filter(isAbsent).map(({ path }) => path),
  }
}

async function findDifferences(
  root: string,
  entries: readonly SnapshotEntry[],
): Promise<readonly Difference[]> {
  const comparisons = await Promise.all(
    entries.map(async (entry): Promise<Difference> => {
      const location = await locate(root, entry.path)
      return { entry, location, current: await readEntry(entry.path, location.absolutePath, location.stats) }
    }),
  )
  return comparisons.filter(({ entry, current }) => !isSameEntry(entry, current))
}

/** A folder at the path of a file is always a conflict. */
function checkConflicts(
  differences: readonly Difference[],
  expected: Manifest | undefined,
  force: boolean,
): void {
  const expectedEntries = expected && new Map(expected.entries.map((entry) => [entry.path, entry]))
  const conflicts = differences.filter(({ entry: { path }, current }) => {
    if (current.kind === 'other') return true
    if (force || expectedEntries === undefined) return false
    return !hasSameContent(expectedEntries.get(path) ?? createAbsentEntry(path), current)
  })
  if (conflicts.length > 0) throw createConflict(conflicts)
}

function checkUnchanged(differences: readonly Difference[], currentDifferences: readonly Difference[]): void {
  const current = new Map(currentDifferences.map((difference) => [difference.entry.path, difference.current]))
  const changedDifferences = differences.filter(
    (difference) =>
      !hasSameContent(difference.current, current.get(difference.entry.path) ?? difference.entry),
  )
  if (changedDifferences.length > 0) throw createConflict(changedDifferences)
}

function createConflict(differences: readonly Difference[]): CausewayError {
  const conflicts = differences.map(({ entry }) => entry.path)
  const message = `${formatCount(conflicts.length, 'file')} with edits that the session did not write: ${conflicts.slice(0, 5).join(', ')}`
  return new TrmError('USER_EDIT_CONFLICT', message, { data: { conflicts } })
}

function createReplacement(contents: Contents, { kind, blob, mode }: SnapshotEntry): Replacement {
  if (kind === 'absent' || kind === 'other') return { kind: 'absent' }
  if (kind === 'link') return { kind, target: async () => String(await readBlob(contents, blob)) }
  return {
    kind,
    mode,
    fill: async (file) => {
      if (!(await contents.copyTo(blob, file))) throw createMissingContentError(blob)
    },
  }
}

/** Throws if the content is missing. */
export async function readBlob(contents: Contents, blob: string): Promise<Buffer> {
  const content = await contents.read(blob)
  if (content === undefined) throw createMissingContentError(blob)
  return content
}

const createMissingContentError = (blob: string): Error =>
  new Error(`the content of a snapshot is missing: ${blob}`)
