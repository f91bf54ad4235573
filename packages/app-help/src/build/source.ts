/** Folders of documentation, as they are configured. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CausewayError } from '@causeway/protocol'
import type { SourceKind } from '../domain/taken.ts'

/** The folder of this file. */
const here = dirname(fileURLToPath(import.meta.url))

/** A folder of documentation. */
export interface Source {
  /** Names it in results: `causeway`, `docs_dev`, `pkg:fastify`. */
  readonly name: string
  /** Absolute. */
  readonly folder: string
  /** Says which files below the folder are pages. */
  readonly kind: SourceKind
  readonly is_internal: boolean
  /** Names that it had; what an index keeps under them goes. */
  readonly formerly?: readonly string[]
}

/** A name of a source, which stands in results and in settings. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const packagePattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/

/**
 * Reads `name=folder`, `internal:name=folder` and `pkg:name`; relative folders start at `cwd`, packages are those that
 * this program can load. Throws `HELP_SOURCE_INVALID`.
 */
export function readSources(entries: readonly string[], cwd: string): Source[] {
  const sources = entries.map((entry) => readSource(entry.trim(), cwd))
  const names = new Set<string>()
  for (const { name } of sources) {
    if (names.has(name)) throw invalid(`two sources have one name: ${name}`, name)
    names.add(name)
  }
  return sources
}

/**
 * What is indexed where nothing is configured: the documentation of this product and of what it is made of. `from` is where
 * the product is looked for, upwards.
 */
export function ownSources(from = here): Source[] {
  const own = productSource(from)
  const internal =
    own === undefined ? [] : [join(own.folder, 'docs_dev')].filter((folder) => existsSync(folder))
  const packages = ['fastify', 'undici'].filter((name) => packageFolder(name) !== undefined)
  const entries = [
    ...internal.map((folder) => `internal:docs_dev=${folder}`),
    ...packages.map((name) => `pkg:${name}`),
  ]
  return [...(own === undefined ? [] : [own]), ...readSources(entries, '/')]
}

/** The folder of a packed server that holds the pages of a checkout, in their places. */
export const packedPages = 'documentation'

const product = { name: 'causeway', kind: 'product', is_internal: false, formerly: ['docs'] } as const

/** This product's own pages: in its checkout, or as they travel with the packed server. */
export function productSource(from = here): Source | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const isCheckout =
      existsSync(join(folder, 'docs/architecture.md')) && existsSync(join(folder, 'packages/app-help'))
    const packed = join(folder, packedPages)
    if (isCheckout || existsSync(join(packed, 'docs/architecture.md')))
      return { ...product, folder: isCheckout ? folder : packed }
    if (dirname(folder) === folder) return undefined
  }
}

function readSource(entry: string, cwd: string): Source {
  if (entry.startsWith('pkg:')) {
    const name = entry.slice(4)
    const folder = packagePattern.test(name) ? packageFolder(name) : undefined
    if (folder === undefined) throw invalid(`no package of this name is installed: ${name}`, entry)
    return { name: entry, folder, kind: 'package', is_internal: false }
  }
  const is_internal = entry.startsWith('internal:')
  const rest = is_internal ? entry.slice('internal:'.length) : entry
  const [name = '', path = ''] = splitOnce(rest)
  if (!namePattern.test(name) || path === '') throw invalid(`not a source: ${entry}`, entry)
  const folder = isAbsolute(path) ? path : resolve(cwd, path)
  if (!existsSync(folder)) throw invalid(`the folder of source ${name} does not exist: ${folder}`, entry)
  return { name, folder, kind: 'folder', is_internal }
}

function splitOnce(text: string): string[] {
  const at = text.indexOf('=')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** The folder of an installed package, found as Node finds packages, whatever the package exports. */
function packageFolder(name: string): string | undefined {
  for (let folder = here; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

const invalid = (message: string, source: string): CausewayError =>
  new CausewayError('HELP_SOURCE_INVALID', message, { data: { source } })
