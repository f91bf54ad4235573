import type { Endpoint } from './endpoint.ts'

/**
 * How clients share a server: one process for all, one for each project folder, one for each client, or one for each call.
 */
export const shares = ['shared', 'project', 'client', 'call'] as const

export type Share = (typeof shares)[number]

/** Packages whose state determines who may share a process. Parts of the program or of an argument, without scope and version. */
const knownPackages: readonly (readonly [Share, RegExp])[] = [
  // One page, one login and one history of thoughts per process.
  ['client', /^(playwright-mcp|chrome-devtools-mcp|(mcp-)?server-(puppeteer|sequential-thinking))$/],
  // Two processes would overwrite each other's file.
  ['shared', /^(mcp-)?server-memory$/],
  // Stateless.
  ['shared', /^((mcp-)?server-(time|fetch|everything)|context7-mcp)$/],
]

/** Returns the sharing of a server that does not set it. */
export function defaultShare(endpoint: Endpoint): Share {
  if (endpoint.kind !== 'stdio') return 'shared'
  const names = [endpoint.command, ...endpoint.args].map(toPackageName)
  return knownPackages.find(([, pattern]) => names.some((name) => pattern.test(name)))?.[0] ?? 'project'
}

/** Converts `@scope/server-memory@1.2` and `/usr/bin/mcp-server-memory.js` to the last part of the name. */
function toPackageName(word: string): string {
  const withoutVersion = word.replace(/(?<=.)@[\w.^~-]+$/, '')
  if (withoutVersion === '@playwright/mcp') return 'playwright-mcp'
  return (withoutVersion.split(/[\\/]/).at(-1) ?? '').replace(/\.(c|m)?js$|\.(exe|cmd)$/, '')
}
