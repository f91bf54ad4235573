/** What a session knows of files: those that its client has read, in the state in which it or the session left them. */
import { createHash } from 'node:crypto'
import type { FileContent } from './domain/candidate/types.ts'
import type { ProjectFiles } from './snapshot/types.ts'
import type { TrmStore } from './store.ts'

/** What it takes. */
export interface SeenParts {
  readonly store: TrmStore
  files(root: string): ProjectFiles
}

/** SHA-256 of a file's bytes, hex: what `trm.read` tells and `sha` of a candidate means. */
export const shaOf = (content: FileContent): string => createHash('sha256').update(content).digest('hex')

/** Notes the state of files that the session has written itself, as far as its client has read them before. */
export async function sawOwn(
  { store, files }: SeenParts,
  { id, repo }: { readonly id: string; readonly repo: string },
  paths: readonly string[],
): Promise<void> {
  const known = await store.seen(id)
  const own = paths.filter((path) => known.has(path))
  if (own.length === 0) return
  const now = await files(repo).read(own)
  await store.saw(
    id,
    new Map([...now].map(([path, content]) => [path, content === undefined ? '' : shaOf(content)])),
  )
}
