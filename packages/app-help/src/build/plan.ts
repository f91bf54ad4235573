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
  readonly failedSources?: readonly SkippedFile[]
  readonly refetch?: boolean
}

export interface BasePage extends KnownPage {
  readBody(): Promise<string>
}

/** Compares the files of the sources with the index. Pages of other sources remain. Throws `CANCELLED`. */
export async function planFiles(
  sources: readonly Source[],
  size: ChunkSize,
  knownPages: readonly KnownPage[],
  {
    signal,
    progress,
    edition,
    base,
    failedSources: unusableSources = [],
    refetch = false,
  }: BuildCall & PageChoice,
): Promise<Plan> {
  const failedSources: SkippedFile[] = [...unusableSources]
  const unreadSources = new Set<string>()
  const sourceResults = await Promise.all(
    sources.map((source) =>
      findSourcePages(source, { signal, progress }, refetch).catch((error: NodeJS.ErrnoException) => {
        unreadSources.add(source.name)
        const reason = isCausewayError(error) ? error.message : (error.code ?? error.message)
        failedSources.push({ file: source.name, reason })
        return { files: [], skipped: [] }
      }),
    ),
  )
  const baseKeys = new Set(base?.map((page) => getPageKey(page.source, page.file_path)))
  const files = sourceResults
    .flatMap((result) => result.files)
    .filter((file) => !baseKeys.has(getPageKey(file.source.name, file.file_path)))
  const knownByKey = groupPagesByKey(knownPages)
  const seenKeys = new Set(baseKeys)
  const failed: { file: string; reason: string }[] = []
  const warnings = sourceResults.flatMap(({ skipped }) =>
    skipped.map(({ file, reason }) => `${file}: ${reason}`),
  )
  const pages = await listChangedBasePages(base ?? [], knownByKey, size)
  for (const [i, file] of files.entries()) {
    const key = getPageKey(file.source.name, file.file_path)
    const knownPage = knownByKey.get(key)
    const name = `${file.source.name}/${file.file_path}`
    const changedPage = await readChangedPage(file, knownPage, size).catch((error: NodeJS.ErrnoException) => {
      failed.push({ file: name, reason: error.code ?? 'unreadable' })
    })
    if (changedPage?.warning !== undefined) warnings.push(`${name}: ${changedPage.warning}`)
    const isInternal = changedPage?.page?.is_internal ?? knownPage?.is_internal ?? file.source.is_internal
    if (!isInternal || edition === 'internal') {
      seenKeys.add(key)
      if (changedPage?.page !== undefined) pages.push(changedPage.page)
    }
    if (i % filesPerTurn !== 0) continue
    progress(i, files.length, 'reading pages')
    await turn()
    if (signal.aborted) throw new CausewayError('CANCELLED', 'the build was cancelled')
  }
  const readableSources = sources.filter(({ name }) => !unreadSources.has(name))
  const names = new Set(readableSources.flatMap(({ name, formerNames = [] }) => [name, ...formerNames]))
  if (base !== undefined)
    for (const { source, is_internal } of knownPages) if (!is_internal) names.add(source)
  return {
    ...comparePages(pages, { knownPages, seenKeys, names, count: seenKeys.size - failed.length }),
    failed: [...failedSources, ...failed],
    warnings,
  }
}

/** Finds a source's pages, after downloading those of a registry or site. */
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
  knownByKey: ReadonlyMap<string, KnownPage>,
  size: ChunkSize,
): Promise<NewPage[]> {
  const pages: NewPage[] = []
  for (const { doc_id, source, file_path, content_hash, readBody } of base) {
    const knownPage = knownByKey.get(getPageKey(source, file_path))
    if (knownPage?.content_hash === content_hash && knownPage.doc_id === doc_id) continue
    const file = { source, file_path, body: await readBody(), is_internal: false }
    pages.push({ ...makePage(file, size, content_hash), doc_id })
  }
  return pages
}

/** The given pages replace all pages of their sources. */
export function planPages(pages: readonly NewPage[], knownPages: readonly KnownPage[]): Plan {
  const knownByKey = groupPagesByKey(knownPages)
  const changedPages = pages.filter(
    ({ source, file_path, content_hash }) =>
      knownByKey.get(getPageKey(source, file_path))?.content_hash !== content_hash,
  )
  const seenKeys = new Set(pages.map(({ source, file_path }) => getPageKey(source, file_path)))
  const names = new Set(pages.map(({ source }) => source))
  return {
    ...comparePages(changedPages, { knownPages, seenKeys, names, count: pages.length }),
    failed: [],
    warnings: [],
  }
}

function comparePages(
  pages: readonly NewPage[],
  {
    knownPages,
    seenKeys,
    names,
    count,
  }: {
    readonly knownPages: readonly KnownPage[]
    readonly seenKeys: ReadonlySet<string>
    readonly names: ReadonlySet<string>
    readonly count: number
  },
) {
  const knownByKey = groupPagesByKey(knownPages)
  const replaced = pages.flatMap(
    ({ source, file_path }) => knownByKey.get(getPageKey(source, file_path))?.doc_id ?? [],
  )
  const removed = knownPages
    .filter(({ source, file_path }) => names.has(source) && !seenKeys.has(getPageKey(source, file_path)))
    .map(({ doc_id }) => doc_id)
  const counts = {
    added: pages.length - replaced.length,
    updated: replaced.length,
    unchanged: count - pages.length,
    removed: removed.length,
  }
  return { pages, removed, replaced, counts }
}

async function readChangedPage(file: FoundFile, knownPage: KnownPage | undefined, size: ChunkSize) {
  const { bytes_hash, warning, ...page } = await readPageFile(file)
  const content_hash = hash(`${formatChunking(size)}\n${wordsVersion}\n${page.is_internal}\n${bytes_hash}`)
  return {
    page: knownPage?.content_hash === content_hash ? undefined : makePage(page, size, content_hash),
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

const groupPagesByKey = (knownPages: readonly KnownPage[]): ReadonlyMap<string, KnownPage> =>
  new Map(knownPages.map((page) => [getPageKey(page.source, page.file_path), page]))

const getPageKey = (source: string, path: string): string => `${source}\n${path}`

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
