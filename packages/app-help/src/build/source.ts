/** Folders of documentation, as they are configured. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CausewayError } from '@causeway/protocol'

/** A folder of documentation. */
export interface Source {
  /** Names it in results: `docs`, `docs_dev`, `pkg:fastify`. */
  readonly name: string
  /** Absolute. */
  readonly folder: string
  /** Files below the folder: everything, or of a package its README and its `docs`. */
  readonly isPackage: boolean
  readonly is_internal: boolean
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

/** What is indexed where nothing is configured: the documentation of this product and of what it is made of. */
export function ownSources(): Source[] {
  const root = checkout()
  const folders =
    root === undefined ? [] : [`docs=${join(root, 'docs')}`, `internal:docs_dev=${join(root, 'docs_dev')}`]
  const kept = folders.filter((entry) => existsSync(entry.slice(entry.indexOf('=') + 1)))
  const packages = ['fastify', 'undici'].filter((name) => packageFolder(name) !== undefined)
  return readSources([...kept, ...packages.map((name) => `pkg:${name}`)], '/')
}

function readSource(entry: string, cwd: string): Source {
  if (entry.startsWith('pkg:')) {
    const name = entry.slice(4)
    const folder = packagePattern.test(name) ? packageFolder(name) : undefined
    if (folder === undefined) throw invalid(`no package of this name is installed: ${name}`, entry)
    return { name: entry, folder, isPackage: true, is_internal: false }
  }
  const is_internal = entry.startsWith('internal:')
  const rest = is_internal ? entry.slice('internal:'.length) : entry
  const [name = '', path = ''] = splitOnce(rest)
  if (!namePattern.test(name) || path === '') throw invalid(`not a source: ${entry}`, entry)
  const folder = isAbsolute(path) ? path : resolve(cwd, path)
  if (!existsSync(folder)) throw invalid(`the folder of source ${name} does not exist: ${folder}`, entry)
  return { name, folder, isPackage: false, is_internal }
}

function splitOnce(text: string): string[] {
  const at = text.indexOf('=')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** The folder of an installed package, found as Node finds packages, whatever the package exports. */
function packageFolder(name: string): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

/** The checkout of this product, where it runs from one. */
function checkout(): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'docs/architecture.md')) && existsSync(join(folder, 'packages/app-help')))
      return folder
    if (dirname(folder) === folder) return undefined
  }
}

const invalid = (message: string, source: string): CausewayError =>
  new CausewayError('HELP_SOURCE_INVALID', message, { data: { source } })
