import { isUnspaced } from '@causeway/embed'
import { splitBlocks } from './block.ts'
import { type Chunk, type ChunkSize, splitChunks } from './chunk.ts'
import { readFrontMatter } from './front-matter.ts'
import { findPageLinks, type PageLink } from './page-link.ts'

export interface PageFile {
  /** Name of the source, such as `docs` or `pkg:fastify`. */
  readonly source: string
  /** Relative path with slashes. */
  readonly file_path: string
  /** Text with normalized line endings and without byte order mark. */
  readonly body: string
  readonly is_internal: boolean
}

export interface Page extends PageFile {
  readonly title: string
  readonly section: string
  /** Lower-case code, such as `en` or `ja`. */
  readonly language: string
  readonly chunks: readonly Chunk[]
  readonly links: readonly PageLink[]
}

/** After a change that alters the chunks of a text, increment `pageVersion`. */
export function readPage(file: PageFile, size: ChunkSize): Page {
  const lines = file.body.split('\n')
  const frontMatter = readFrontMatter(lines)
  return {
    ...file,
    title: frontMatter.title ?? findFirstHeading(lines, frontMatter.lines) ?? deriveTitle(file.file_path),
    section: frontMatter.section ?? deriveSection(file.source, file.file_path),
    language: frontMatter.language ?? detectLanguage(file.file_path, file.body),
    is_internal: file.is_internal || frontMatter.is_internal,
    chunks: splitChunks(lines, frontMatter.lines, size),
    links: findPageLinks(file.file_path, file.body),
  }
}

export const pageVersion = 1

function findFirstHeading(lines: readonly string[], from: number): string | undefined {
  const headings = splitBlocks(lines, from).filter(({ kind, title }) => kind === 'heading' && title !== '')
  return (headings.find(({ level }) => level === 1) ?? headings[0])?.title
}

/** Converts `guides/getting-started.md` to `Guides - Getting Started`. */
export function deriveTitle(path: string): string {
  const segments = path.split('/')
  const name = toTitleCase((segments.at(-1) ?? '').replace(/\.[^.]*$/, ''))
  const parent = segments.at(-2)
  return parent === undefined ? name : `${toTitleCase(parent)} - ${name}`
}

/** Returns the package's name and the first folder other than `docs`, or a default such as `Overview`. */
export function deriveSection(source: string, path: string): string {
  const folders = path
    .split('/')
    .slice(0, -1)
    .filter((folder) => !/^docs?$/i.test(folder))
  const name = (path.split('/').at(-1) ?? '').toLowerCase()
  const owner = source.startsWith('pkg:') ? `${toTitleCase(source.slice(4))} ` : ''
  if (folders[0] !== undefined) return `${owner}${toTitleCase(folders[0])}`
  if (/^readme\b/.test(name)) return `${owner}Overview`
  if (/^(changelog|history|changes)\b/.test(name)) return `${owner}Updates`
  return `${owner}General`
}

const toTitleCase = (text: string): string =>
  text
    .split(/[-_\s]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

const languages = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru', 'zh', 'zh-cn', 'zh-tw'])

/** Detects the language by a folder of the path, otherwise by the script of the text. Default: English. */
function detectLanguage(path: string, body: string): string {
  const folder = path
    .toLowerCase()
    .split('/')
    .slice(0, -1)
    .find((segment) => languages.has(segment))
  if (folder !== undefined) return folder
  const sample = body.slice(0, 20_000)
  if (!isUnspaced(sample)) return 'en'
  const count = (pattern: RegExp): number => sample.match(pattern)?.length ?? 0
  const [kana, han, hangul] = [
    /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
    /\p{Script=Han}/gu,
    /\p{Script=Hangul}/gu,
  ].map(count)
  const unspacedCount = (kana ?? 0) + (han ?? 0) + (hangul ?? 0)
  if (unspacedCount * 5 < count(/\p{L}/gu)) return 'en'
  if ((hangul ?? 0) * 2 > unspacedCount) return 'ko'
  return (kana ?? 0) > 0 ? 'ja' : 'zh'
}
