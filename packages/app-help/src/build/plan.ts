import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { ChunkSize } from '../domain/chunk.ts'
import { embeddedText, wordsVersion } from '../domain/index-text.ts'
import { type PageFile, pageVersion, readPage } from '../domain/page.ts'
import type { BuildReport, KnownPage, NewPage } from '../storage/types.ts'
import { type FoundFile, findPages, readFound } from './collect.ts'
import type { BuildCall } from './make-vectors.ts'
import type { Source } from './source.ts'

/** The changes of a build. */
export interface Plan {
  readonly pages: readonly NewPage[]
  readonly removed: readonly number[]
  /** Ids of pages that are replaced. */
  readonly replaced: readonly number[]
  readonly counts: Pick<BuildReport, 'added' | 'updated' | 'unchanged' | 'removed'>
  readonly failed: BuildReport['failed']
  readonly warnings: readonly string[]
}

/** Files per turn of the event loop. */
const filesPerTurn = 16

/** Compares the files of the sources with the index. Pages of other sources remain. Throws `CANCELLED`. */
export async function planFiles(
  sources: readonly Source[],
  size: ChunkSize,
  known: readonly KnownPage[],
  { signal, progress }: BuildCall,
): Promise<Plan> {
  const found = await Promise.all(sources.map(findPages))
  const files = found.flatMap((one) => one.files)
  const earlier = pagesByKey(known)
  const failed: { file: string; reason: string }[] = []
  const warnings = found.flatMap(({ refused }) => refused.map(({ file, reason }) => `${file}: ${reason}`))
  const pages: NewPage[] = []
  for (const [i, file] of files.entries()) {
    const before = earlier.get(pageKey(file.source.name, file.file_path))
    const name = `${file.source.name}/${file.file_path}`
    const read = await readNew(file, before, size).catch((error: NodeJS.ErrnoException) => {
      failed.push({ file: name, reason: error.code ?? 'unreadable' })
    })
    if (read?.warning !== undefined) warnings.push(`${name}: ${read.warning}`)
    if (read?.page !== undefined) pages.push(read.page)
    if (i % filesPerTurn !== 0) continue
    progress(i, files.length, 'reading pages')
    await turn()
    if (signal.aborted) throw new CausewayError('CANCELLED', 'the build was cancelled')
  }
  const seen = new Set(files.map((file) => pageKey(file.source.name, file.file_path)))
  const names = new Set(sources.flatMap(({ name, formerly = [] }) => [name, ...formerly]))
  return {
    ...difference(pages, { known, seen, names, count: files.length - failed.length }),
    failed,
    warnings,
  }
}

/** Compares given pages with the index. They replace all pages of their sources. */
export function planPages(pages: readonly NewPage[], known: readonly KnownPage[]): Plan {
  const earlier = pagesByKey(known)
  const changed = pages.filter(
    ({ source, file_path, content_hash }) =>
      earlier.get(pageKey(source, file_path))?.content_hash !== content_hash,
  )
  const seen = new Set(pages.map(({ source, file_path }) => pageKey(source, file_path)))
  const names = new Set(pages.map(({ source }) => source))
  return { ...difference(changed, { known, seen, names, count: pages.length }), failed: [], warnings: [] }
}

function difference(
  pages: readonly NewPage[],
  {
    known,
    seen,
    names,
    count,
  }: {
    readonly known: readonly KnownPage[]
    readonly seen: ReadonlySet<string>
    readonly names: ReadonlySet<string>
    readonly count: number
  },
) {
  const earlier = pagesByKey(known)
  const replaced = pages.flatMap(
    ({ source, file_path }) => earlier.get(pageKey(source, file_path))?.doc_id ?? [],
  )
  const removed = known
    .filter(({ source, file_path }) => names.has(source) && !seen.has(pageKey(source, file_path)))
    .map(({ doc_id }) => doc_id)
  const counts = {
    added: pages.length - replaced.length,
    updated: replaced.length,
    unchanged: count - pages.length,
    removed: removed.length,
  }
  return { pages, removed, replaced, counts }
}

async function readNew(file: FoundFile, before: KnownPage | undefined, size: ChunkSize) {
  const { bytes_hash, warning, ...page } = await readFound(file)
  const content_hash = hash(`${chunkingName(size)}\n${wordsVersion}\n${page.is_internal}\n${bytes_hash}`)
  return {
    page: before?.content_hash === content_hash ? undefined : newPage(page, size, content_hash),
    warning,
  }
}

/** Makes a page with the hashes of its embedded texts. */
export function newPage(file: PageFile, size: ChunkSize, content_hash: string): NewPage {
  const page = readPage(file, size)
  const text_hashes = page.chunks.map(({ heading, text }) => hash(embeddedText(page.title, heading, text)))
  return { ...page, content_hash, text_hashes }
}

/** Identifies the chunking rules: `version:size:overlap`. */
export const chunkingName = ({ size, overlap }: ChunkSize): string => `${pageVersion}:${size}:${overlap}`

/** Parses the sizes of such an identifier. */
export function parseChunking(chunking: string): ChunkSize {
  const [, size = 0, overlap = 0] = chunking.split(':').map(Number)
  return { size, overlap }
}

const pagesByKey = (known: readonly KnownPage[]): ReadonlyMap<string, KnownPage> =>
  new Map(known.map((page) => [pageKey(page.source, page.file_path), page]))

const pageKey = (source: string, path: string): string => `${source}\n${path}`

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
