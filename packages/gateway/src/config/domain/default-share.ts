import type { Endpoint, StdioEndpoint } from './endpoint.ts'

/** Sharing of a server's process: one for all clients, per project folder, per client, or per call. */
export const shares = ['shared', 'project', 'client', 'call'] as const

export type Share = (typeof shares)[number]

/** Packages whose state determines who may share a process. Names have no scope and no `mcp-` prefix. */
const knownPackages: ReadonlyMap<string, Share> = new Map([
  // A process has one page, login or history of thoughts.
  ['playwright-mcp', 'client'],
  ['chrome-devtools-mcp', 'client'],
  ['server-puppeteer', 'client'],
  ['server-sequential-thinking', 'client'],
  // Two processes would overwrite each other's file.
  ['server-memory', 'shared'],
  // These packages have no state.
  ['server-time', 'shared'],
  ['server-fetch', 'shared'],
  ['server-everything', 'shared'],
  ['context7-mcp', 'shared'],
])

/** Packages that rewrite a file in each call. Concurrent calls would lose changes even in one process. */
const sequentialPackages: ReadonlySet<string> = new Set(['server-memory'])

const defaultCallLimit = 8

export function selectDefaultShare(endpoint: Endpoint): Share {
  if (endpoint.kind !== 'stdio') return 'shared'
  const knownShares = listPackages(endpoint).map((name) => knownPackages.get(name))
  return knownShares.find((share) => share !== undefined) ?? 'project'
}

export const selectDefaultConcurrency = (endpoint: Endpoint): number =>
  endpoint.kind === 'stdio' && listPackages(endpoint).some((name) => sequentialPackages.has(name))
    ? 1
    : defaultCallLimit

const listPackages = ({ command, args }: StdioEndpoint): readonly string[] =>
  [command, ...args].map(toPackageName)

/**
 * Converts `@scope/server-memory@1.2`, `/usr/bin/mcp-server-memory.js` and files of the installed package to
 * `server-memory`.
 */
function toPackageName(word: string): string {
  const installedPackage = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(word)?.[1]
  const unversionedName = (installedPackage?.replace('\\', '/') ?? word).replace(/(?<=.)@[\w.^~-]+$/, '')
  if (unversionedName === '@playwright/mcp') return 'playwright-mcp'
  const lastSegment = unversionedName.split(/[\\/]/).at(-1) ?? ''
  return lastSegment.replace(/\.[cm]?js$|\.(exe|cmd)$/, '').replace(/^mcp-(?=server-)/, '')
}
