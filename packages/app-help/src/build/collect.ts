import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isIncluded } from '../domain/included-file.ts'
import type { PageFile } from '../domain/page.ts'
import { convertHtml } from '../sources/html.ts'
import { convertRst } from '../sources/rst.ts'
import type { SkippedFile, Source } from './source.ts'

export interface FoundFile {
  readonly source: Source
  /** Relative path with slashes. */
  readonly file_path: string
  readonly path: string
}

interface ReadFile extends PageFile {
  /** SHA-256 of the bytes, hex. */
  readonly bytes_hash: string
  readonly warning: string | undefined
}

const maxBytes = 2 * 2 ** 20
const maxDepth = 24

/** Returns the pages of a source, sorted by path, and the skipped files. */
export async function findPages(source: Source): Promise<{ files: FoundFile[]; skipped: SkippedFile[] }> {
  const root = await realpath(source.folder)
  const files: FoundFile[] = []
  const skipped: SkippedFile[] = []
  const seenPaths = new Set<string>()

  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder)
    for (const name of entries.sort(compareByCodePoint)) {
      const path = join(folder, name)
      const file_path = relative(root, path).split(sep).join('/')
      if (!isIncluded(source.kind, file_path, true) && !isIncluded(source.kind, file_path, false)) continue
      const file = `${source.name}/${file_path}`
      const realFile = await realpath(path).catch(() => undefined)
      if (realFile === undefined) skipped.push({ file, reason: 'broken link' })
      else if (!realFile.startsWith(`${root}${sep}`)) skipped.push({ file, reason: 'outside the source' })
      else if (!seenPaths.has(realFile)) {
        const { size, ...entry } = await stat(realFile).then((stats) => ({
          size: stats.size,
          isFolder: stats.isDirectory(),
        }))
        if (!isIncluded(source.kind, file_path, entry.isFolder)) continue
        seenPaths.add(realFile)
        if (entry.isFolder && depth < maxDepth) await visit(path, depth + 1)
        else if (!entry.isFolder && /\.(?:md|mdx|markdown|rst|html?)$/i.test(name)) {
          if (size > maxBytes) skipped.push({ file, reason: `larger than ${maxBytes} bytes` })
          else files.push({ source, file_path, path: realFile })
        } else if (!entry.isFolder && name === 'llms.txt') files.push({ source, file_path, path: realFile })
      }
    }
  }
  await visit(root, 0)
  const pages = files.filter(({ file_path }) => !isHtml(file_path))
  const isSite = source.kind === 'folder' && pages.every(({ file_path }) => file_path.endsWith('llms.txt'))
  return { files: isSite ? files : pages, skipped }
}

/** HTML files are pages only in a folder without other pages. */
const isHtml = (path: string): boolean => /\.html?$/i.test(path)

/** Reads a page as Markdown, with normalized line endings. Replaces invalid UTF-8. */
export async function readPageFile({ source, file_path, path }: FoundFile): Promise<ReadFile> {
  const bytes = await readFile(path)
  const decoded = new TextDecoder('utf-8').decode(bytes)
  const text = convert(file_path, decoded)
  return {
    source: source.name,
    file_path,
    is_internal: source.is_internal,
    body: text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll('\0', '\ufffd'),
    bytes_hash: createHash('sha256').update(bytes).digest('hex'),
    warning: isUtf8(bytes) ? undefined : 'contains invalid UTF-8, which was replaced',
  }
}

function convert(path: string, text: string): string {
  if (isHtml(path)) return convertHtml(text)
  return /\.rst$/i.test(path) ? convertRst(text) : text
}

const compareByCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
