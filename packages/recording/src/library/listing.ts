import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type Catalogue, unknownSize } from './catalogue.ts'
import { checkFile } from './check-file.ts'
import { createStateKey, readFileState } from './file-state.ts'
import { isFrameFile } from './frame-file.ts'
import type { Listing, Roots } from './library-types.ts'

interface ListingOptions {
  readonly catalogue: Catalogue
  readonly roots: Roots
  readonly limits: ScanLimits
  /** Whether a path is in the library's data folder, which may be in a root. */
  readonly isExcluded: (path: string) => boolean
}

/** Output folder of the C++ recorder's tests, relative to the tests' working folder. */
const defaultFolder = join('build', 'Debug', 'debug', 'recordings')

interface ListResult {
  readonly searched: readonly string[]
  readonly listings: readonly Listing[]
}

export async function listRecordings(options: ListingOptions, directory?: string): Promise<ListResult> {
  const { catalogue, limits, isExcluded } = options
  const folders = await listFoldersToSearch(options.roots, directory)
  const files = new Map<string, FoundFile>()
  for (const folder of folders.existing) {
    for (const file of await scanFolder(folder, limits, isExcluded)) {
      if (files.size < limits.files) files.set(file.path, file)
    }
  }
  const paths = new Set<string>()
  for (const file of files.values()) {
    const path = file.isLink ? await resolveFound(options.roots, file.path) : file.path
    if (path !== undefined && !isExcluded(path)) paths.add(path)
  }
  const sorted = [...paths].sort()
  const ids = catalogue.getIds(sorted)
  const listings: Listing[] = []
  for (const path of sorted) {
    const listing = await createListing(catalogue, path, ids.get(path) ?? path)
    if (listing) listings.push(listing)
  }
  return { searched: folders.searched, listings }
}

async function listFoldersToSearch(roots: Roots, directory: string | undefined) {
  const searched =
    directory === undefined
      ? roots.folders().flatMap((root) => [join(root, defaultFolder), root])
      : [directory]
  const existing = new Set<string>()
  for (const folder of searched) {
    const path =
      directory === undefined ? await resolveFound(roots, folder) : await resolveExisting(roots, folder)
    if (path !== undefined) existing.add(path)
  }
  return { searched, existing: [...existing] }
}

/** Returns the real path; `undefined` if it does not exist. */
export async function resolveExisting(roots: Roots, folder: string): Promise<string | undefined> {
  try {
    return await roots.resolve(folder)
  } catch (error) {
    if (CausewayError.is(error, 'FILE_NOT_FOUND')) return undefined
    throw error
  }
}

async function resolveFound(roots: Roots, path: string): Promise<string | undefined> {
  try {
    return await resolveExisting(roots, path)
  } catch (error) {
    if (CausewayError.is(error, 'OUTSIDE_ROOTS')) return undefined
    throw error
  }
}

async function createListing(catalogue: Catalogue, path: string, id: string): Promise<Listing | undefined> {
  try {
    const state = await readFileState(path)
    const key = createStateKey(path, state)
    const knownCheck = catalogue.findCheck(path, key)
    const { reason, total_frames, bodies, duration_s, era, isFinal } = knownCheck
      ? { ...knownCheck, isFinal: false }
      : { ...unknownSize, ...(await checkFile(path, state)) }
    if (isFinal) catalogue.putCheck({ path, key, reason, total_frames })
    // Omitted, because most .jsonl files of a project are not recordings.
    if (reason === 'NOT_A_RECORDING' && isFrameFile(path)) return undefined
    return {
      id,
      path,
      name: basename(path),
      size_bytes: state.size,
      modified_ms: Number(state.mtimeNs / 1_000_000n),
      is_recording: reason === null,
      ...(reason === null ? {} : { reason }),
      ...(total_frames === null ? {} : { total_frames }),
      ...(bodies === null ? {} : { bodies }),
      ...(duration_s === null ? {} : { duration_s }),
      ...(era === null ? {} : { era }),
    }
  } catch (error) {
    if (isCausewayError(error)) return createUnreadableListing(path, id, error.code)
    throw error
  }
}

async function createUnreadableListing(
  path: string,
  id: string,
  reason: string,
): Promise<Listing | undefined> {
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

export interface ScanLimits {
  readonly depth: number
  readonly folders: number
  readonly files: number
}

export interface FoundFile {
  readonly path: string
  /** Links may lead outside the roots. */
  readonly isLink: boolean
}

const databaseName = /\.(db|sqlite)$/i
const isRecordingName = (name: string): boolean => databaseName.test(name) || isFrameFile(name)

const skippedFolders = new Set(['node_modules'])

/** Finds recordings by name, nearest first. Skips unreadable and hidden folders, and links to folders. */
async function scanFolder(
  folder: string,
  limits: ScanLimits,
  isExcluded: (folder: string) => boolean,
): Promise<readonly FoundFile[]> {
  const foundFiles: FoundFile[] = []
  let currentFolders = [folder]
  let visitedCount = 0
  for (let depth = 0; depth <= limits.depth && currentFolders.length > 0; depth++) {
    const subfolders: string[] = []
    for (const current of currentFolders) {
      if (isExcluded(current) || visitedCount++ >= limits.folders) continue
      for (const entry of await readEntries(current)) {
        const path = join(current, entry.name)
        if (entry.isDirectory()) {
          if (!entry.name.startsWith('.') && !skippedFolders.has(entry.name)) subfolders.push(path)
        } else if (isRecordingName(entry.name) && (entry.isFile() || entry.isSymbolicLink())) {
          if (foundFiles.length >= limits.files) return foundFiles
          foundFiles.push({ path, isLink: entry.isSymbolicLink() })
        }
      }
    }
    currentFolders = subfolders
  }
  return foundFiles
}

async function readEntries(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(code)) return []
    throw error
  }
}
