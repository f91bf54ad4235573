import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import {
  type AppliedCandidate,
  type Changes,
  type FileContent,
  isSameContent,
  type OriginalFiles,
} from '../domain/candidate/types.ts'
import { TrmError } from '../errors.ts'
import { type FileLocation, locateFile, resolveRoot } from './file-location.ts'
import { type FileReplacement, type Replacement, replaceFiles } from './replace-files.ts'

/** Maximum size of a file that a candidate may change: 10 MiB. */
export const maxFileBytes = 10 * 2 ** 20

export interface WriteOptions extends Partial<Pick<AppliedCandidate, 'previousPaths' | 'executableBits'>> {
  /** The contents on which the changes are based. */
  readonly before: OriginalFiles
}

/**
 * Reads files of a project below its real root. Does not follow links or enter `.git`. Throws `INVALID_PATH` and
 * `FILE_TOO_LARGE`.
 */
export async function readFiles(folder: string, paths: readonly string[]): Promise<OriginalFiles> {
  const root = await resolveRoot(folder)
  const files = new Map<string, FileContent | undefined>()
  for (const path of paths) {
    const location = await locateFile(root, path)
    files.set(location.path, location.stats && (await readContent(location)))
  }
  return files
}

/** Reads text files. Omits binary files and unreadable paths. */
export async function readTexts(
  folder: string,
  paths: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of paths) {
    try {
      for (const [name, content] of await readFiles(folder, [path]))
        if (typeof content === 'string') texts.set(name, content)
    } catch (error) {
      if (!isCausewayError(error)) throw error
    }
  }
  return texts
}

/**
 * Writes all changes or none, and preserves mode bits. Throws the errors of `readFiles`, and `STALE_FILE` for a file
 * that differs from `before`.
 */
export async function writeFiles(folder: string, changes: Changes, options: WriteOptions): Promise<void> {
  const root = await resolveRoot(folder)
  const files: FileReplacement[] = []
  for (const [path, content] of changes) {
    const location = await locateFile(root, path)
    files.push({ location, replacement: await createReplacement(root, location, content, options) })
  }
  await replaceFiles(root, files, async () => {
    const currentFiles = await readFiles(root, [...changes.keys()])
    for (const path of changes.keys()) {
      if (isSameContent(options.before.get(path), currentFiles.get(path))) continue
      throw new TrmError('STALE_FILE', `the file changed while the candidate was applied: ${path}`, {
        data: { path },
      })
    }
  })
}

/** Decodes UTF-8, including its byte order mark. Returns bytes unchanged if they contain NUL or are not UTF-8. */
export function decodeContent(bytes: Uint8Array): FileContent {
  if (bytes.includes(0)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

export const createTooLargeError = (path: string, bytes: number): CausewayError =>
  new TrmError('FILE_TOO_LARGE', `the file has ${bytes} bytes, more than ${maxFileBytes}: ${path}`, {
    data: { path, bytes, most: maxFileBytes },
  })

async function readContent({ path, absolutePath, stats }: FileLocation): Promise<FileContent> {
  if ((stats?.size ?? 0) > maxFileBytes) throw createTooLargeError(path, stats?.size ?? 0)
  const file = await open(absolutePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return decodeContent(await file.readFile())
  } finally {
    await file.close()
  }
}

async function createReplacement(
  root: string,
  { path, stats }: FileLocation,
  content: FileContent | null,
  { previousPaths, executableBits }: WriteOptions,
): Promise<Replacement> {
  if (content === null) return { kind: 'absent' }
  const from = previousPaths?.get(path)
  const originalStats = stats ?? (from === undefined ? undefined : (await locateFile(root, from)).stats)
  const isExecutable = executableBits?.get(path)
  const newMode = (isExecutable ? 0o777 : 0o666) & ~process.umask()
  const mode =
    originalStats === undefined ? newMode : setExecutable(originalStats.mode & 0o7777, isExecutable)
  return { kind: 'file', mode, fill: (file) => file.writeFile(content) }
}

/** Sets the executable bit for everyone who may read the file, or clears it for everyone. */
function setExecutable(mode: number, isExecutable: boolean | undefined): number {
  if (isExecutable === undefined) return mode
  return isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}
