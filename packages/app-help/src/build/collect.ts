/** Finds the pages of a source and reads them, and never leaves its folder. */
import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { PageFile } from '../domain/page.ts'
import { isTaken } from '../domain/taken.ts'
import type { Source } from './source.ts'

/** A file found, not read yet. */
export interface FoundFile {
  readonly source: Source
  /** Path below the folder, with slashes. */
  readonly file_path: string
  /** Real path. */
  readonly path: string
}

/** A file that is not indexed, and why. */
export interface Refusal {
  readonly file: string
  readonly reason: string
}

/** A page as it was read. */
export interface ReadFile extends PageFile {
  /** SHA-256 of the bytes, hex. */
  readonly bytes_hash: string
  /** What was repaired, in words. */
  readonly warning: string | undefined
}

/** Larger files are data and not pages. */
const mostBytes = 2 * 2 ** 20
/** Folders below each other at most; a loop of links ends here, if not before. */
const mostDepth = 24

/** The pages of a source in order of path, and what was left out with a reason. */
export async function findPages(source: Source): Promise<{ files: FoundFile[]; refused: Refusal[] }> {
  const root = await realpath(source.folder)
  const files: FoundFile[] = []
  const refused: Refusal[] = []
  const seen = new Set<string>()

  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder)
    for (const name of entries.sort(byCodePoint)) {
      const path = join(folder, name)
      const file_path = relative(root, path).split(sep).join('/')
      if (!isTaken(source.kind, file_path, true) && !isTaken(source.kind, file_path, false)) continue
      const file = `${source.name}/${file_path}`
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined) refused.push({ file, reason: 'a link that leads nowhere' })
      else if (!real.startsWith(`${root}${sep}`)) refused.push({ file, reason: 'outside its source' })
      else if (!seen.has(real)) {
        const { size, ...entry } = await stat(real).then((found) => ({
          size: found.size,
          isFolder: found.isDirectory(),
        }))
        if (!isTaken(source.kind, file_path, entry.isFolder)) continue
        seen.add(real)
        if (entry.isFolder && depth < mostDepth) await visit(path, depth + 1)
        else if (!entry.isFolder && /\.(md|mdx|markdown)$/i.test(name)) {
          if (size > mostBytes) refused.push({ file, reason: `larger than ${mostBytes} bytes` })
          else files.push({ source, file_path, path: real })
        } else if (!entry.isFolder && name === 'llms.txt') files.push({ source, file_path, path: real })
      }
    }
  }
  await visit(root, 0)
  return { files, refused }
}

/** Reads a page: without byte order mark, lines ended by \n, what is no UTF-8 replaced. */
export async function readFound({ source, file_path, path }: FoundFile): Promise<ReadFile> {
  const bytes = await readFile(path)
  const text = new TextDecoder('utf-8').decode(bytes)
  return {
    source: source.name,
    file_path,
    is_internal: source.is_internal,
    body: text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll('\0', '\ufffd'),
    bytes_hash: createHash('sha256').update(bytes).digest('hex'),
    warning: isUtf8(bytes) ? undefined : 'holds bytes that are no UTF-8; they were replaced',
  }
}

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
