import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isIncluded } from '../domain/included-file.ts'
import { HelpError } from '../errors.ts'
import { listArchive } from './archive.ts'

export interface NpmPackage {
  readonly name: string
  readonly version: string
  readonly registry: string
}

const maxArchiveBytes = 64 * 2 ** 20
const maxUnpackedBytes = 256 * 2 ** 20
const maxDescriptionBytes = 4 * 2 ** 20
const timeoutMs = 60_000

const unzip = promisify(gunzip)

/**
 * Downloads the pages into a folder, unless it exists, and verifies the archive's integrity. Throws
 * `HELP_SOURCE_UNREACHABLE`.
 */
export async function fetchPackage(source: NpmPackage, folder: string, signal: AbortSignal): Promise<void> {
  if (existsSync(folder)) return
  const label = `${source.name}@${source.version}`
  const { tarball, integrity } = await readDescription(source, label, signal)
  const archive = await download(tarball, { label, maxBytes: maxArchiveBytes, signal })
  if (!hasIntegrity(archive, integrity))
    throw createUnreachableError(label, 'the archive does not have the integrity that the registry states')
  const tar = await unzip(archive, { maxOutputLength: maxUnpackedBytes }).catch(() => {
    throw createUnreachableError(label, 'the archive is damaged or too large')
  })
  await mkdir(dirname(folder), { recursive: true })
  const temporaryFolder = await mkdtemp(`${folder}.`)
  try {
    for (const { path, bytes } of listArchive(tar)) {
      if (path.split('/').includes('..') || path.includes('\\') || !isPage(path)) continue
      const target = join(temporaryFolder, path)
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, bytes)
    }
    await rename(temporaryFolder, folder)
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true })
  }
}

const isPage = (path: string): boolean =>
  /\.(?:md|mdx|markdown)$/i.test(path) && isIncluded('package', path, false)

async function readDescription({ name, version, registry }: NpmPackage, label: string, signal: AbortSignal) {
  const url = `${registry.replace(/\/+$/, '')}/${name.replace('/', '%2f')}/${version}`
  const bytes = await download(url, { label, maxBytes: maxDescriptionBytes, signal })
  const description = parseJson(bytes)
  const dist = description?.dist
  if (typeof dist?.tarball !== 'string' || typeof dist.integrity !== 'string')
    throw createUnreachableError(label, 'the registry does not describe its archive')
  return { tarball: new URL(dist.tarball, url).href, integrity: dist.integrity }
}

interface Description {
  readonly dist?: { readonly tarball?: unknown; readonly integrity?: unknown }
}

function parseJson(bytes: Uint8Array): Description | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Description // each field is checked
  } catch {
    return undefined
  }
}

async function download(
  url: string,
  {
    label,
    maxBytes,
    signal,
  }: { readonly label: string; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const stallController = new AbortController()
  const stop = (): void => stallController.abort(new Error(`no data within ${timeoutMs} ms`))
  let timer = setTimeout(stop, timeoutMs)
  const rejectDownload = (error: unknown): never => {
    throw createUnreachableError(label, describe(error))
  }
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, stallController.signal]) }).catch(
      rejectDownload,
    )
    if (!response.ok)
      throw createUnreachableError(label, `the registry responded with status ${response.status}`)
    const chunks: Uint8Array[] = []
    let size = 0
    const reader = response.body?.getReader()
    while (reader !== undefined) {
      const { done, value } = await reader.read().catch(rejectDownload)
      if (done) break
      clearTimeout(timer)
      timer = setTimeout(stop, timeoutMs)
      size += value.length
      if (size > maxBytes) {
        await reader.cancel()
        throw createUnreachableError(label, `it is larger than ${maxBytes} bytes`)
      }
      chunks.push(value)
    }
    return Buffer.concat(chunks)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the bytes have one of the stated hashes, such as `sha512-...`. */
function hasIntegrity(bytes: Uint8Array, integrity: string): boolean {
  const hashes = integrity.split(/\s+/)
  return hashes.some((hash) => {
    const [, algorithm = '', value] = /^(sha512|sha384|sha256)-([A-Za-z0-9+/=]+)/.exec(hash) ?? []
    return value !== undefined && createHash(algorithm).update(bytes).digest('base64') === value
  })
}

function describe(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error ? cause.message : message
}

const createUnreachableError = (label: string, reason: string) =>
  new HelpError('HELP_SOURCE_UNREACHABLE', `the package ${label} cannot be fetched: ${reason}`, {
    data: { source: `npm:${label}` },
  })
