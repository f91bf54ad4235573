/** Optional packages for tests, installed by `node test/downloads/clients.mjs install`. */
import { delimiter } from 'node:path'
import { installedFolder } from './clients.mjs'

/**
 * Lets the product find these packages, and returns why a test that needs them is skipped; `false` if they are installed. With
 * CAUSEWAY_CLIENT_CACHE, as in CI, they must be installed.
 */
export function requirePackages(...names: readonly ('h5wasm' | 'duckdb')[]): string | false {
  const found = names.map((name) => ({ name, folder: installedFolder(name, process.env) }))
  const missing = found.filter(({ folder }) => folder === undefined).map(({ name }) => name)
  const list = missing.join(' and ')
  if (missing.length > 0 && process.env.CAUSEWAY_CLIENT_CACHE !== undefined)
    throw new Error(`${list} must be installed: node test/downloads/clients.mjs install`)
  if (missing.length > 0) return `${list}: run node test/downloads/clients.mjs install`
  const known = process.env.CAUSEWAY_OPTIONAL_PACKAGES ?? ''
  process.env.CAUSEWAY_OPTIONAL_PACKAGES = [known, ...found.map(({ folder }) => folder ?? '')].join(delimiter)
  return false
}
