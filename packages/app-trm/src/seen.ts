/** What a session knows of files: those that its client has read, in the state in which it or the session left them. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { CausewayError } from '@causeway/protocol'
import type { FileContent } from './domain/candidate/types.ts'
import type { Engine } from './engine.ts'
import type { SeenFile } from './rows.ts'
import type { ProjectFiles } from './snapshot/types.ts'
import type { TrmStore } from './store.ts'

const [pack, unpack] = [promisify(deflate), promisify(inflate)]

/** Longest text that is kept to tell later what has changed, characters. */
const longestKept = 2 ** 19

/** What it takes. */
export interface SeenParts {
  readonly store: TrmStore
  files(root: string): ProjectFiles
}

/** SHA-256 of a file's bytes, hex: what `trm.read` tells and `sha` of a candidate means. */
export const shaOf = (content: FileContent): string => createHash('sha256').update(content).digest('hex')

/** What is kept of a file that a client sees. */
export async function seenFile(content: FileContent | undefined): Promise<SeenFile> {
  if (content === undefined) return { sha: '', text: null }
  const isKept = typeof content === 'string' && content.length <= longestKept
  return { sha: shaOf(content), text: isKept ? await pack(content, { level: 1 }) : null }
}

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
  const seen = new Map<string, SeenFile>()
  for (const [path, content] of now) seen.set(path, await seenFile(content))
  await store.saw(id, seen)
}

/** A file that is not as a client has seen it. */
export interface Stale {
  readonly path: string
  /** sha of what the client goes by */
  readonly known: string
  /** undefined where the file is gone */
  readonly now: FileContent | undefined
}

/** The error of such a file, with a diff from what the client has seen to what is there, as far as both are known. */
export async function staleFile(
  { store, engine }: { readonly store: TrmStore; readonly engine: Engine },
  sid: string,
  { path, known, now }: Stale,
): Promise<CausewayError> {
  const packed = (await store.seen(sid)).get(path) === known ? await store.seenText(sid, path) : undefined
  const before = packed === undefined ? undefined : (await unpack(packed)).toString()
  const diff =
    before === undefined || typeof now !== 'string'
      ? undefined
      : await engine.call('difference', { path, before, after: now })
  const sha = now === undefined ? null : shaOf(now)
  return new CausewayError('STALE_FILE', `the file ${stateOf(now)}: ${path}`, {
    remedy:
      diff === undefined
        ? 'read it again, then submit what fits it now'
        : 'submit what fits it now, with data.sha_now as sha; data.diff is what has changed since',
    data: { path, sha_read: known, sha_now: sha, ...(diff === undefined ? {} : { diff }) },
  })
}

const stateOf = (now: FileContent | undefined): string =>
  now === undefined ? 'is gone' : 'has changed since it was read'
