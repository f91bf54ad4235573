import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CausewayError } from '@causeway/protocol'
import type { SourceKind } from '../domain/included-file.ts'
import { HelpError } from '../errors.ts'
import type { LlmsSite } from '../sources/llms-site.ts'
import type { NpmPackage } from '../sources/npm-package.ts'

const moduleFolder = dirname(fileURLToPath(import.meta.url))

export interface Source {
  /** Name such as `causeway`, `docs_dev` or `pkg:fastify`. */
  readonly name: string
  /** Absolute path. */
  readonly folder: string
  readonly kind: SourceKind
  readonly is_internal: boolean
  readonly npm?: NpmPackage
  readonly site?: LlmsSite
  /** Former names. Their pages are removed from the index. */
  readonly formerNames?: readonly string[]
}

export interface SkippedFile {
  readonly file: string
  readonly reason: string
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const packagePattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/
const versionPattern = /^\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]+)?$/

interface Downloads {
  readonly registry: string
  /** Other origins to which `llms.txt` may link. */
  readonly origins: readonly string[]
  readonly folder: string
}

/**
 * Parses `name=folder`, `name=https://host/llms.txt` (both may have the prefix `internal:`), `pkg:name` and
 * `npm:name@version`. Relative folders are resolved from `cwd`. Throws `HELP_SOURCE_INVALID`.
 */
export function readSources(entries: readonly string[], cwd: string, downloads?: Downloads): Source[] {
  const sources = entries.map((entry) => readSource(entry.trim(), cwd, downloads))
  const names = new Set<string>()
  for (const { name } of sources) {
    if (names.has(name)) throw createInvalidError(`two sources have the same name: ${name}`, name)
    names.add(name)
  }
  return sources
}

export interface SourceList {
  readonly sources: readonly Source[]
  readonly failedSources: readonly SkippedFile[]
}

/** Replaces the entry `own` with the default sources. An unusable entry does not affect the others. */
export function listSources(entries: readonly string[], cwd: string, downloads?: Downloads): SourceList {
  if (entries.length === 0) return { sources: listOwnSources(), failedSources: [] }
  const sources: Source[] = []
  const failedSources: SkippedFile[] = []
  const addSource = (source: Source): void => {
    if (sources.some(({ name }) => name === source.name))
      throw createInvalidError(`two sources have the same name: ${source.name}`, source.name)
    sources.push(source)
  }
  for (const entry of entries.filter((candidate) => candidate !== 'own')) {
    try {
      addSource(readSource(entry.trim(), cwd, downloads))
    } catch (error) {
      if (!HelpError.is(error, 'HELP_SOURCE_INVALID')) throw error
      failedSources.push({ file: entry.trim(), reason: error.message })
    }
  }
  const names = new Set(sources.map(({ name }) => name))
  const ownSources = entries.includes('own') ? listOwnSources().filter(({ name }) => !names.has(name)) : []
  return { sources: [...sources, ...ownSources], failedSources }
}

/** Returns the documentation of this product, searched from `from` upwards, and of its main dependencies. */
export function listOwnSources(from = moduleFolder): Source[] {
  const productSource = findProductSource(from)
  const internal =
    productSource === undefined
      ? []
      : [join(productSource.folder, 'docs_dev')].filter((folder) => existsSync(folder))
  const packages = ['fastify', 'undici'].filter((name) => findPackageFolder(name) !== undefined)
  const entries = [
    ...internal.map((folder) => `internal:docs_dev=${folder}`),
    ...packages.map((name) => `pkg:${name}`),
  ]
  return [...(productSource === undefined ? [] : [productSource]), ...readSources(entries, '/')]
}

export const packedPagesFolder = 'documentation'

const productFields = {
  name: 'causeway',
  kind: 'product',
  is_internal: false,
  formerNames: ['docs'],
} as const

export function findProductSource(from = moduleFolder): Source | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const isCheckout =
      existsSync(join(folder, 'docs/architecture.md')) && existsSync(join(folder, 'packages/app-help'))
    const packedFolder = join(folder, packedPagesFolder)
    if (isCheckout || existsSync(join(packedFolder, 'docs/architecture.md')))
      return { ...productFields, folder: isCheckout ? folder : packedFolder }
    if (dirname(folder) === folder) return undefined
  }
}

function readSource(entry: string, cwd: string, downloads: Downloads | undefined): Source {
  if (entry.startsWith('npm:') && downloads !== undefined) return readRegistrySource(entry, downloads)
  if (entry.startsWith('pkg:')) {
    const name = entry.slice(4)
    const folder = packagePattern.test(name) ? findPackageFolder(name) : undefined
    if (folder === undefined) throw createInvalidError(`package not installed: ${name}`, entry)
    return { name: entry, folder, kind: 'package', is_internal: false }
  }
  const is_internal = entry.startsWith('internal:')
  const value = is_internal ? entry.slice('internal:'.length) : entry
  const [name = '', path = ''] = splitOnce(value)
  if (!namePattern.test(name) || path === '') throw createInvalidError(`invalid source: ${entry}`, entry)
  if (/^https?:\/\//i.test(path) && downloads !== undefined)
    return { name, is_internal, kind: 'folder', ...readSite(path, downloads, entry) }
  const folder = isAbsolute(path) ? path : resolve(cwd, path)
  if (!existsSync(folder))
    throw createInvalidError(`the folder of source ${name} does not exist: ${folder}`, entry)
  return { name, folder, kind: 'folder', is_internal }
}

function readRegistrySource(entry: string, { folder, registry }: Downloads): Source {
  const value = entry.slice('npm:'.length)
  const index = value.lastIndexOf('@')
  const [name, version] = [value.slice(0, Math.max(0, index)), value.slice(index + 1)]
  if (!packagePattern.test(name) || !versionPattern.test(version))
    throw createInvalidError(`write a package of a registry as npm:name@1.2.3, not ${entry}`, entry)
  const packageFolder = join(folder, `${name.replace('/', '+')}@${version}`)
  return {
    name: entry,
    folder: packageFolder,
    kind: 'package',
    is_internal: false,
    npm: { name, version, registry },
  }
}

function readSite(address: string, { folder, origins }: Downloads, entry: string) {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || url.username !== '' || !url.pathname.endsWith('.txt'))
    throw createInvalidError(`write a site as name=https://host/llms.txt, not ${entry}`, entry)
  url.hash = ''
  const hash = createHash('sha256').update(url.href).digest('hex').slice(0, 16)
  return { folder: join(folder, `site-${hash}`), site: { url: url.href, origins } }
}

function splitOnce(text: string): string[] {
  const index = text.indexOf('=')
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}

function findPackageFolder(name: string): string | undefined {
  for (let folder = moduleFolder; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

const createInvalidError = (message: string, source: string): CausewayError =>
  new HelpError('HELP_SOURCE_INVALID', message, { data: { source } })
