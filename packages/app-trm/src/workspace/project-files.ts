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
import { locateFile, type Place, resolveRoot } from './place.ts'
import { type Replaced, type Replacement, replaceFiles } from './replace-files.ts'

/** Maximum size of a file that a candidate may change: 10 MiB. */
export const maxFileBytes = 10 * 2 ** 20

export interface WriteOptions extends Partial<Pick<AppliedCandidate, 'moved' | 'executable'>> {
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
    const place = await locateFile(root, path)
    files.set(place.path, place.stats && (await readContent(place)))
  }
  return files
}

/** Omits binary files and unreadable paths. */
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
  const files: Replaced[] = []
  for (const [path, content] of changes) {
    const place = await locateFile(root, path)
    files.push({ place, by: await createReplacement(root, place, content, options) })
  }
  await replaceFiles(root, files, async () => {
    const now = await readFiles(root, [...changes.keys()])
    for (const path of changes.keys()) {
      if (isSameContent(options.before.get(path), now.get(path))) continue
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

async function readContent({ path, absolute, stats }: Place): Promise<FileContent> {
  if ((stats?.size ?? 0) > maxFileBytes) throw createTooLargeError(path, stats?.size ?? 0)
  const file = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return decodeContent(await file.readFile())
  } finally {
    await file.close()
  }
}

async function createReplacement(
  root: string,
  { path, stats }: Place,
  content: FileContent | null,
  { moved, executable }: WriteOptions,
): Promise<Replacement> {
  if (content === null) return { kind: 'absent' }
  const from = moved?.get(path)
  const origin = stats ?? (from === undefined ? undefined : (await locateFile(root, from)).stats)
  const isExecutable = executable?.get(path)
  const newMode = (isExecutable ? 0o777 : 0o666) & ~process.umask()
  const mode = origin === undefined ? newMode : setExecutable(origin.mode & 0o7777, isExecutable)
  return { kind: 'file', mode, fill: (file) => file.writeFile(content) }
}

/** Sets the executable bit for everyone who may read the file, or clears it for everyone. */
function setExecutable(mode: number, isExecutable: boolean | undefined): number {
  if (isExecutable === undefined) return mode
  return isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}
