import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import type { Catalogue } from './catalogue.ts'
import { readFileState, stateKey } from './file-state.ts'
import { type FoundFile, type ScanLimits, scanFolder } from './folder-scan.ts'
import type { Listing, RecordingLibrary, Roots } from './library-types.ts'
import { judgeFile } from './verdict.ts'

/** What a listing works with. */
export interface ListingOptions {
  readonly catalogue: Catalogue
  readonly roots: Roots
  readonly limits: ScanLimits
  /** True for our own data folder, which may lie below a root. */
  readonly isOwn: (path: string) => boolean
}

/** Where the original recorder's tests write, below the folder they are run in. */
const usualFolder = join('build', 'Debug', 'debug', 'recordings')

type Found = Awaited<ReturnType<RecordingLibrary['list']>>

/** Lists a folder, or all roots; throws `OUTSIDE_ROOTS`. */
export async function listRecordings(options: ListingOptions, directory?: string): Promise<Found> {
  const { catalogue, limits, isOwn } = options
  const folders = await foldersToSearch(options.roots, directory)
  const files = new Map<string, FoundFile>()
  for (const folder of folders.existing) {
    for (const file of await scanFolder(folder, limits, isOwn)) {
      if (files.size < limits.files) files.set(file.path, file)
    }
  }
  const paths = new Set<string>()
  for (const file of files.values()) {
    const path = file.isLink ? await targetOf(options.roots, file.path) : file.path
    if (path !== undefined && !isOwn(path)) paths.add(path)
  }
  const sorted = [...paths].sort()
  const ids = catalogue.idsOf(sorted)
  const listings: Listing[] = []
  for (const path of sorted) {
    const listing = await describe(catalogue, path, ids.get(path) ?? path)
    if (listing) listings.push(listing)
  }
  return { searched: folders.searched, listings }
}

/** The folders asked for, and those of them that exist, by real path; the recorder's usual one comes first. */
async function foldersToSearch(roots: Roots, directory: string | undefined) {
  const searched =
    directory === undefined ? roots.folders().flatMap((root) => [join(root, usualFolder), root]) : [directory]
  const existing = new Set<string>()
  for (const folder of searched) {
    const path = directory === undefined ? await targetOf(roots, folder) : await existingFolder(roots, folder)
    if (path !== undefined) existing.add(path)
  }
  return { searched, existing: [...existing] }
}

async function existingFolder(roots: Roots, folder: string): Promise<string | undefined> {
  try {
    return await roots.resolve(folder)
  } catch (error) {
    if (isCausewayError(error) && error.code === 'FILE_NOT_FOUND') return undefined
    throw error
  }
}

/** The real path of something that was found and not asked for; undefined where it leads out of the roots. */
async function targetOf(roots: Roots, path: string): Promise<string | undefined> {
  try {
    return await existingFolder(roots, path)
  } catch (error) {
    if (isCausewayError(error) && error.code === 'OUTSIDE_ROOTS') return undefined
    throw error
  }
}

/** One line of the list; undefined where the file went away meanwhile. */
async function describe(catalogue: Catalogue, path: string, id: string): Promise<Listing | undefined> {
  try {
    const state = await readFileState(path)
    const key = stateKey(path, state)
    const known = catalogue.verdict(path, key)
    const { reason, total_frames, isFinal } = known
      ? { ...known, isFinal: false }
      : await judgeFile(path, state)
    if (isFinal) catalogue.setVerdicts([{ path, key, reason, total_frames }])
    return {
      id,
      path,
      name: basename(path),
      size_bytes: state.size,
      modified_ms: Number(state.mtimeNs / 1_000_000n),
      is_recording: reason === null,
      ...(reason === null ? {} : { reason }),
      ...(total_frames === null ? {} : { total_frames }),
    }
  } catch (error) {
    if (isCausewayError(error)) return unreadable(path, id, error.code)
    throw error
  }
}

/** A file whose bytes cannot be read, and why. */
async function unreadable(path: string, id: string, reason: string): Promise<Listing | undefined> {
  try {
    const { size, mtimeMs } = await stat(path)
    const [name, modified_ms] = [basename(path), Math.floor(mtimeMs)]
    return {
      id,
      path,
      name,
      size_bytes: size,
      modified_ms,
      is_recording: false,
      reason,
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
