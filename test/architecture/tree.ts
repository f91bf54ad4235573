import { posix } from 'node:path'
import { type Import, importsOf } from './source.ts'

/** The texts of a repository by relative path. */
export type Texts = ReadonlyMap<string, string>

/** A source file of a package, with what it imports. */
export interface Source {
  readonly path: string
  /** Folder of its package: `packages/app-replay`, `server`, `bridge`. */
  readonly folder: string
  /** Name of its package without the scope: `app-replay`. */
  readonly owner: string
  readonly text: string
  readonly imports: readonly Import[]
}

const sourcePath = /^((?:packages\/)?([a-z-]+))\/src\/.+\.(ts|mts|js|mjs)$/

/** The files below `src/` of every package, of the server and of the bridge. */
export function sources(texts: Texts): Source[] {
  return [...texts].flatMap(([path, text]) => {
    const match = sourcePath.exec(path)
    if (!match) return []
    const imports = importsOf(text).map((one) => ({ ...one, isType: one.isType || path.endsWith('.d.ts') }))
    return [{ path, folder: match[1] ?? '', owner: match[2] ?? '', text, imports }]
  })
}

/** The path that a relative import means, or undefined when it is not relative. */
export function target(path: string, { from }: Import): string | undefined {
  return from.startsWith('.') ? posix.join(posix.dirname(path), from) : undefined
}

/** The package that an import names: `@causeway/protocol`, `undici` of `undici/lib/dispatcher/pool.js`. */
export function packageOf({ from }: Import): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')
}
