import { posix } from 'node:path'
import { findImports, type Import } from './source.ts'

/** Texts of a repository by relative path. */
export type Texts = ReadonlyMap<string, string>

/** A source file of a package with its imports. */
export interface Source {
  readonly path: string
  /** Folder of its package: `packages/app-replay`, `server`, `bridge`. */
  readonly folder: string
  /** Name of its package without the scope: `app-replay`. */
  readonly owner: string
  readonly text: string
  readonly imports: readonly Import[]
}

const sourcePath = /^((?:packages\/)?([a-z-]+))\/src\/.+\.(tsx?|mts|js|mjs)$/

/** Returns the files below `src/` of every package, the server and the bridge. */
export function sources(texts: Texts): Source[] {
  return [...texts].flatMap(([path, text]) => {
    const match = sourcePath.exec(path)
    if (!match) return []
    const imports = findImports(text).map((one) => ({ ...one, isType: one.isType || path.endsWith('.d.ts') }))
    return [{ path, folder: match[1] ?? '', owner: match[2] ?? '', text, imports }]
  })
}

/** Returns the path of a relative import, or `undefined` for a package import. */
export function target(path: string, { from }: Import): string | undefined {
  return from.startsWith('.') ? posix.join(posix.dirname(path), from) : undefined
}

/** Returns the package name of an import: `undici` for `undici/lib/dispatcher/pool.js`. */
export function packageName({ from }: Import): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
}
