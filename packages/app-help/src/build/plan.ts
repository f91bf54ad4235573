import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { ChunkSize } from '../domain/chunk.ts'
import { makeEmbeddedText, wordsVersion } from '../domain/index-text.ts'
import { type PageFile, pageVersion, readPage } from '../domain/page.ts'
import { fetchSite, recoverSite } from '../sources/llms-site.ts'
import { fetchPackage } from '../sources/npm-package.ts'
import type { BuildReport, Edition, KnownPage, NewPage } from '../storage/types.ts'
import { type FoundFile, findPages, readPageFile } from './collect.ts'
import type { BuildCall } from './make-vectors.ts'
import type { SkippedFile, Source } from './source.ts'

export interface Plan {
  readonly pages: readonly NewPage[]
  readonly removed: readonly number[]
  readonly replaced: readonly number[]
  readonly counts: Pick<BuildReport, 'added' | 'updated' | 'unchanged' | 'removed'>
  readonly failed: BuildReport['failed']
  readonly warnings: readonly string[]
}

/** Number of files per turn of the event loop. */
const filesPerTurn = 16

interface PageChoice {
  /** `public` omits internal pages, even those of an earlier index. */
  readonly edition: Edition
  /** Pages of the public edition. */
  readonly base?: readonly BasePage[] | undefined
  readonly failed?: readonly SkippedFile[]
  readonly refetch?: boolean
}

export interface BasePage extends KnownPage {
  body(): Promise<string>
}

/** Compares the files of the sources with the index. Pages of other sources remain. Throws `CANCELLED`. */
export async function planFiles(
  sources: readonly Source[],
  size: ChunkSize,
  known: readonly KnownPage[],
  { signal, progress, edition, base, failed: unusable = [], refetch = false }: BuildCall & PageChoice,
): Promise<Plan> {
  const failedSources: SkippedFile[] = [...unusable]
  const unreadSources = new Set<string>()
  const found = await Promise.all(
    sources.map((source) =>
      findSourcePages(source, { signal, progress }, refetch).catch((error: NodeJS.ErrnoException) => {
        unreadSources.add(source.name)
        const reason = isCausewayError(error) ? error.message : (error.code ?? error.message)
        failedSources.push({ file: source.name, reason })
        return { files: [], skipped: [] }
      }),
    ),
  )
  const inBase = new Set(base?.map((page) => pageKey(page.source, page.file_path)))
  const files = found
    .flatMap((one) => one.files)
    .filter((file) => !inBase.has(pageKey(file.source.name, file.file_path)))
  const earlier = groupPagesByKey(known)
  const seen = new Set(inBase)
  const failed: { file: string; reason: string }[] = []
  const warnings = found.flatMap(({ skipped }) => skipped.map(({ file, reason }) => `${file}: ${reason}`))
  const pages = await listChangedBasePages(base ?? [], earlier, size)
  for (const [i, file] of files.entries()) {
    const key = pageKey(file.source.name, file.file_path)
    const before = earlier.get(key)
    const name = `${file.source.name}/${file.file_path}`
    const read = await readChanged(file, before, size).catch((error: NodeJS.ErrnoException) => {
      failed.push({ file: name, reason: error.code ?? 'unreadable' })
    })
    if (read?.warning !== undefined) warnings.push(`${name}: ${read.warning}`)
    const isInternal = read?.page?.is_internal ?? before?.is_internal ?? file.source.is_internal
    if (!isInternal || edition === 'internal') {
      seen.add(key)
      if (read?.page !== undefined) pages.push(read.page)
    }
    if (i % filesPerTurn !== 0) continue
    progress(i, files.length, 'reading pages')
    await turn()
    if (signal.aborted) throw new CausewayError('CANCELLED', 'the build was cancelled')
  }
  const readable = sources.filter(({ name }) => !unreadSources.has(name))
  const names = new Set(readable.flatMap(({ name, formerly = [] }) => [name, ...formerly]))
  if (base !== undefined) for (const { source, is_internal } of known) if (!is_internal) names.add(source)
  return {
    ...comparePages(pages, { known, seen, names, count: seen.size - failed.length }),
    failed: [...failedSources, ...failed],
    warnings,
  }
}

/** Finds pages. Downloads them first if the source is a registry or site. */
async function findSourcePages(source: Source, { signal, progress }: BuildCall, refetch: boolean) {
  const { npm, site, folder, name } = source
  if (npm !== undefined) {
    progress(0, undefined, `fetching ${name}`)
    await fetchPackage(npm, folder, signal)
  }
  if (site !== undefined) await recoverSite(folder)
  const isFetched = existsSync(folder)
  if (site === undefined || (isFetched && !refetch)) return findPages(source)
  const skippedPages = await fetchSite(site, folder, { signal, progress }).catch((error: unknown) => {
    if (!isFetched || !isCausewayError(error) || error.code === 'CANCELLED') throw error
    return [{ file: name, reason: error.message }]
  })
  const found = await findPages(source)
  return { ...found, skipped: [...skippedPages, ...found.skipped] }
}

async function listChangedBasePages(
  base: readonly BasePage[],
  earlier: ReadonlyMap<string, KnownPage>,
  size: ChunkSize,
): Promise<NewPage[]> {
  const pages: NewPage[] = []
  for (const { doc_id, source, file_path, content_hash, body } of base) {
    const before = earlier.get(pageKey(source, file_path))
    if (before?.content_hash === content_hash && before.doc_id === doc_id) continue
    const file = { source, file_path, body: await body(), is_internal: false }
    pages.push({ ...makePage(file, size, content_hash), doc_id })
  }
  return pages
}

/** The given pages replace all pages of their sources. */
export function planPages(pages: readonly NewPage[], known: readonly KnownPage[]): Plan {
  const earlier = groupPagesByKey(known)
  const changed = pages.filter(
    ({ source, file_path, content_hash }) =>
      earlier.get(pageKey(source, file_path))?.content_hash !== content_hash,
  )
  const seen = new Set(pages.map(({ source, file_path }) => pageKey(source, file_path)))
  const names = new Set(pages.map(({ source }) => source))
  return { ...comparePages(changed, { known, seen, names, count: pages.length }), failed: [], warnings: [] }
}

function comparePages(
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
  const earlier = groupPagesByKey(known)
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

async function readChanged(file: FoundFile, before: KnownPage | undefined, size: ChunkSize) {
  const { bytes_hash, warning, ...page } = await readPageFile(file)
  const content_hash = hash(`${formatChunking(size)}\n${wordsVersion}\n${page.is_internal}\n${bytes_hash}`)
  return {
    page: before?.content_hash === content_hash ? undefined : makePage(page, size, content_hash),
    warning,
  }
}

export function makePage(file: PageFile, size: ChunkSize, content_hash: string): NewPage {
  const page = readPage(file, size)
  const text_hashes = page.chunks.map(({ heading, text }) =>
    hash(makeEmbeddedText(page.title, heading, text)),
  )
  return { ...page, content_hash, text_hashes }
}

/** Identifies the chunking rules: `version:size:overlap`. */
export const formatChunking = ({ size, overlap }: ChunkSize): string => `${pageVersion}:${size}:${overlap}`

export function parseChunking(chunking: string): ChunkSize {
  const [, size = 0, overlap = 0] = chunking.split(':').map(Number)
  return { size, overlap }
}

const groupPagesByKey = (known: readonly KnownPage[]): ReadonlyMap<string, KnownPage> =>
  new Map(known.map((page) => [pageKey(page.source, page.file_path), page]))

const pageKey = (source: string, path: string): string => `${source}\n${path}`

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
