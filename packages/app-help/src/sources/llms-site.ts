import { createHash } from 'node:crypto'
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { dirname, join } from 'node:path'
import { nodeHttp } from '@causeway/protocol'
import { HelpError } from '../errors.ts'
import { convertHtml } from './html.ts'

/** A site whose pages an `llms.txt` lists (https://llmstxt.org). */
export interface LlmsSite {
  readonly url: string
  /** Other origins that may be requested, even at a private address. */
  readonly origins: readonly string[]
}

/** Limits in bytes, milliseconds and counts, and the function that resolves names. */
export const siteLimits = {
  listBytes: 2 ** 20,
  pageBytes: 2 * 2 ** 20,
  totalBytes: 64 * 2 ** 20,
  pages: 500,
  redirects: 5,
  requestMs: 30_000,
  totalMs: 600_000,
  parallel: 4,
  resolve: lookup as (
    hostname: string,
    options: LookupAllOptions,
    callback: (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void,
  ) => void,
}

const privateAddresses = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  privateAddresses.addSubnet(net, prefix)
for (const [net, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  privateAddresses.addSubnet(net, prefix, 'ipv6')

/** Whether an IP address belongs to this machine or a private network. IPv6 addresses may contain an IPv4 address. */
export const isPrivateAddress = (address: string): boolean =>
  privateAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

interface SkippedPage {
  readonly file: string
  readonly reason: string
}

interface FetchCall {
  readonly signal: AbortSignal
  readonly progress: (done: number, total?: number, message?: string) => void
  readonly limits?: typeof siteLimits
}

/**
 * Replaces a folder with a site's list and its pages. Reports pages of other origins that are not configured.
 * Throws `HELP_SOURCE_UNREACHABLE` if the list or all pages cannot be fetched.
 */
export async function fetchSite(site: LlmsSite, folder: string, call: FetchCall): Promise<SkippedPage[]> {
  const limits = call.limits ?? siteLimits
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(limits.totalMs)])
  const client = new SiteClient(site, { ...limits, signal })
  call.progress(0, undefined, `fetching ${site.url}`)
  const listing = await client.get(site.url, limits.listBytes).catch((error: unknown) => {
    throw createUnreachableError(site.url, describeError(error))
  })
  const links = listLinks(listing.text, listing.url)
  const skippedPages: SkippedPage[] = links
    .slice(limits.pages)
    .map((file) => skip(file, `more than ${limits.pages} pages`))
  const pages = new Map<string, FetchedPage>()
  const queue = links.slice(0, limits.pages)
  const total = queue.length
  let fetchedCount = 0
  const work = async (): Promise<void> => {
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      try {
        pages.set(url, await client.get(url, limits.pageBytes))
      } catch (error) {
        call.signal.throwIfAborted()
        skippedPages.push(skip(url, describeError(error)))
      }
      call.progress(++fetchedCount, total, `fetching ${site.url}`)
    }
  }
  await Promise.all(Array.from({ length: limits.parallel }, work))
  if (total > 0 && pages.size === 0)
    throw createUnreachableError(
      site.url,
      `none of its ${total} pages can be fetched; ${skippedPages[0]?.reason ?? ''}`,
    )
  await writePages(folder, listing, links, pages)
  return skippedPages
}

const skip = (file: string, reason: string): SkippedPage => ({ file, reason })

interface FetchedPage {
  readonly url: string
  readonly text: string
}

class SiteClient {
  readonly #own: string
  readonly #listedOrigins: ReadonlySet<string>
  readonly #limits: typeof siteLimits & { readonly signal: AbortSignal }
  #bytes = 0

  constructor({ url, origins }: LlmsSite, limits: typeof siteLimits & { readonly signal: AbortSignal }) {
    this.#own = new URL(url).origin
    this.#listedOrigins = new Set(origins)
    this.#limits = limits
  }

  /** Follows redirects. Throws an error whose message is the reason. */
  async get(address: string, maxBytes: number): Promise<FetchedPage> {
    let url = address
    for (let redirects = 0; ; redirects++) {
      this.#check(url)
      const response = await this.#request(url, maxBytes)
      if (response.location === undefined) return { url, text: toMarkdown(response, url) }
      if (redirects >= this.#limits.redirects)
        throw new Error(`more than ${this.#limits.redirects} redirects`)
      if (!URL.canParse(response.location, url)) throw new Error('it redirects to an invalid address')
      url = new URL(response.location, url).href
    }
  }

  #check(url: string): void {
    const { origin } = new URL(url)
    if (origin !== this.#own && !this.#listedOrigins.has(origin))
      throw new Error(`${origin} is another origin; list it in CAUSEWAY_HELP_ORIGINS to fetch its pages`)
  }

  /** Names other than `localhost` and the listed origins must not resolve to a private address. */
  #lookup(origin: string): LookupFunction | undefined {
    if (this.#listedOrigins.has(origin) || new URL(origin).hostname === 'localhost') return undefined
    return (hostname, options, callback) =>
      this.#limits.resolve(hostname, { ...options, all: true }, (error, addresses = []) => {
        const privateAddress = addresses.find(({ address }) => isPrivateAddress(address))?.address
        const message = `${hostname} has the private address ${privateAddress}; list ${origin} in CAUSEWAY_HELP_ORIGINS to allow it`
        if (privateAddress !== undefined) callback(new Error(message), [])
        else if (options.all) callback(error, addresses)
        else callback(error, addresses[0]?.address ?? '', addresses[0]?.family)
      })
  }

  async #request(address: string, maxBytes: number): Promise<ReceivedBody> {
    const url = new URL(address)
    const { signal, requestMs, totalBytes } = this.#limits
    const send = url.protocol === 'https:' ? requestHttps : nodeHttp().request
    const deadlineSignal = AbortSignal.any([signal, AbortSignal.timeout(requestMs)])
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void =>
        reject(
          deadlineSignal.aborted && !signal.aborted
            ? new Error(`no complete response within ${requestMs} ms`)
            : error,
        )
      const headers = { accept: 'text/markdown, text/plain, text/html;q=0.5', 'accept-encoding': 'identity' }
      const options = { lookup: this.#lookup(url.origin), signal: deadlineSignal, headers, agent: false }
      const request = send(url, options, (response) => {
        const { statusCode = 0, headers } = response
        const stop = (reason: string): void => {
          request.destroy()
          reject(new Error(reason))
        }
        if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
          response.destroy()
          return resolve({ location: headers.location, type: '', bytes: new Uint8Array() })
        }
        if (statusCode !== 200) return stop(`the server responded with status ${statusCode}`)
        const encoding = headers['content-encoding'] ?? 'identity'
        if (encoding !== 'identity') return stop(`the server compressed the page as ${encoding} unasked`)
        const chunks: Uint8Array[] = []
        let size = 0
        response.on('data', (chunk: Uint8Array) => {
          size += chunk.length
          this.#bytes += chunk.length
          if (size > maxBytes) stop(`larger than ${maxBytes} bytes`)
          else if (this.#bytes > totalBytes) stop(`all pages are larger than ${totalBytes} bytes`)
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () =>
          resolve({ type: headers['content-type'] ?? '', bytes: Buffer.concat(chunks) }),
        )
      })
      request.on('error', fail)
      request.end()
    })
  }
}

interface ReceivedBody {
  readonly location?: string
  readonly type: string
  readonly bytes: Uint8Array
}

/** Throws if the page is not text. */
function toMarkdown({ type, bytes }: ReceivedBody, url: string): string {
  const [, kind = '', charset = 'utf-8'] =
    /^\s*([^;\s]*)(?:.*?charset="?([\w-]+))?/i.exec(type.slice(0, 200)) ?? []
  if (kind !== '' && !/^text\/|^application\/(?:xhtml\+xml|markdown)$/i.test(kind))
    throw new Error(`it is ${kind}`)
  const text = createDecoder(charset).decode(bytes)
  const isHtml =
    /html/i.test(kind) ||
    (!/\.(?:md|mdx|markdown|txt|rst)$/i.test(new URL(url).pathname) &&
      /^\s*<(?:!doctype html|html)/i.test(text))
  return isHtml ? convertHtml(text) : text
}

function createDecoder(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

const link = /\[([^\][\n]{0,500})\]\(([^()\s]{1,2000})\)/g

function listLinks(text: string, base: string): string[] {
  const links = new Set<string>()
  for (const [, , target = ''] of text.matchAll(link)) {
    const url = parseLink(target, base)
    if (url !== undefined && url !== base) links.add(url)
  }
  return [...links]
}

function parseLink(target: string, base: string): string | undefined {
  if (!URL.canParse(target, base)) return undefined
  const url = new URL(target, base)
  url.hash = ''
  return /^https?:$/.test(url.protocol) && url.username === '' ? url.href : undefined
}

const previousSuffix = '.previous'

/** Restores a site's previous pages if the server was killed while replacing them. */
export async function recoverSite(folder: string): Promise<void> {
  const previous = `${folder}${previousSuffix}`
  if (!existsSync(previous)) return
  if (existsSync(folder)) await rm(previous, { recursive: true, force: true })
  else await rename(previous, folder)
}

/** Replaces the folder after all pages and the list are written. */
async function writePages(
  folder: string,
  listing: FetchedPage,
  links: readonly string[],
  pages: ReadonlyMap<string, FetchedPage>,
): Promise<void> {
  const { origin } = new URL(listing.url)
  const paths = new Map<string, string>()
  for (const url of links)
    if (pages.has(url)) paths.set(url, toFilePath(url, origin, new Set(paths.values())))
  await mkdir(dirname(folder), { recursive: true })
  const temporaryFolder = await mkdtemp(`${folder}.`)
  try {
    for (const [url, path] of paths) {
      const file = join(temporaryFolder, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, pages.get(url)?.text ?? '')
    }
    const text = listing.text.replace(link, (match, label, target) => {
      const path = paths.get(parseLink(target, listing.url) ?? '')
      return path === undefined ? match : `[${label}](${path})`
    })
    await writeFile(join(temporaryFolder, 'llms.txt'), text)
    const previous = `${folder}${previousSuffix}`
    if (existsSync(folder)) await rename(folder, previous)
    await rename(temporaryFolder, folder)
    await rm(previous, { recursive: true, force: true })
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true })
  }
}

/** Returns a path below the site's folder, with safe names. */
function toFilePath(address: string, origin: string, takenPaths: ReadonlySet<string>): string {
  const url = new URL(address)
  const parts = `${url.origin === origin ? '' : url.hostname}/${url.pathname}${url.search}`
    .split('/')
    .map((segment) =>
      segment
        .replace(/[^\w.@+-]+/g, '-')
        .replace(/\.{2,}/g, '.')
        .replace(/^[._-]+|-+$/g, '')
        .slice(0, 80),
    )
    .filter((segment) => segment !== '' && segment !== 'node_modules')
    .slice(-16)
  const name = (/\/$/.test(url.pathname) ? [...parts, 'index'] : parts)
    .join('/')
    .replace(/\.(?:md|mdx|markdown|html?|txt|rst)$/i, '')
  const hash = createHash('sha256').update(address).digest('hex').slice(0, 8)
  const path = `${name || 'index'}.md`
  return [...takenPaths].some((takenPath) => isSamePath(takenPath, path))
    ? `${name || 'index'}-${hash}.md`
    : path
}

const isSamePath = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function describeError(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error ? cause.message : message
}

const createUnreachableError = (url: string, reason: string) =>
  new HelpError('HELP_SOURCE_UNREACHABLE', `${url} cannot be fetched: ${reason}`, { data: { source: url } })
