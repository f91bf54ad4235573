import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { CausewayError } from '@causeway/protocol'
import type { FileContent, FilesBefore } from '../domain/candidate/types.ts'
import { type Placed, placedFile, realRoot } from './place.ts'
import { type Replaced, type Replacement, replaceFiles, sweepBeside } from './replace-files.ts'
import type { ProjectFiles, WriteOptions } from './types.ts'

/** Largest file that a candidate may touch: 10 MiB. */
export const largestFile = 10 * 2 ** 20

/** Permission bits of what stands nowhere yet. */
const newFile = 0o666
const newProgram = 0o777

/** The files of a project, by its folder; the real path of it is what counts. */
export function openProjectFiles(folder: string): ProjectFiles {
  return {
    read: async (paths) => read(await realRoot(folder), paths),
    async write(changes, options) {
      const root = await realRoot(folder)
      const files: Replaced[] = []
      for (const [path, content] of changes) {
        const place = await placedFile(root, path)
        files.push({ place, by: await replacement(root, place, content, options) })
      }
      await replaceFiles(root, files, async () => {
        const now = await read(root, [...changes.keys()])
        for (const path of changes.keys()) refuseChanged(path, options.before.get(path), now.get(path))
      })
    },
    async sweep(paths) {
      const root = await realRoot(folder)
      for (const path of paths) await sweepBeside((await placedFile(root, path)).absolute)
    },
  }
}

async function read(root: string, paths: readonly string[]): Promise<FilesBefore> {
  const files = new Map<string, FileContent | undefined>()
  for (const path of paths) {
    const place = await placedFile(root, path)
    files.set(place.path, place.stats && (await contentOf(place)))
  }
  return files
}

/** UTF-8 as text with its byte order mark; everything else, and what holds a NUL, as bytes. */
export function asContent(bytes: Uint8Array): FileContent {
  if (bytes.includes(0)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

/** The bytes of a file. */
const asBytes = (content: FileContent): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content

/** The error of a file over the limit. */
export const tooLarge = (path: string, bytes: number): CausewayError =>
  new CausewayError('FILE_TOO_LARGE', `the file has ${bytes} bytes, more than ${largestFile}: ${path}`, {
    data: { path, bytes, most: largestFile },
  })

async function contentOf({ path, absolute, stats }: Placed): Promise<FileContent> {
  if ((stats?.size ?? 0) > largestFile) throw tooLarge(path, stats?.size ?? 0)
  const file = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return asContent(await file.readFile())
  } finally {
    await file.close()
  }
}

async function replacement(
  root: string,
  { path, stats }: Placed,
  content: FileContent | null,
  { moved, executable }: WriteOptions,
): Promise<Replacement> {
  if (content === null) return { kind: 'absent' }
  const from = moved?.get(path)
  const origin = stats ?? (from === undefined ? undefined : (await placedFile(root, from)).stats)
  const isProgram = executable?.get(path)
  const mode =
    origin === undefined ? modeOfNew(isProgram === true) : withExecution(origin.mode & 0o7777, isProgram)
  return { kind: 'file', mode, fill: (file) => file.writeFile(asBytes(content)) }
}

const modeOfNew = (isProgram: boolean): number => (isProgram ? newProgram : newFile) & ~process.umask()

/** Whoever may read a program may run it. */
function withExecution(mode: number, isProgram: boolean | undefined): number {
  if (isProgram === undefined) return mode
  return isProgram ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

function refuseChanged(path: string, before: FileContent | undefined, now: FileContent | undefined): void {
  if (before === undefined && now === undefined) return
  const isSame =
    before !== undefined && now !== undefined && Buffer.compare(asBytes(before), asBytes(now)) === 0
  if (isSame) return
  throw new CausewayError('STALE_FILE', `the file changed while the candidate was applied: ${path}`, {
    data: { path },
  })
}
