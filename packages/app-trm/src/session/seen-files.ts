/** The files that a client read, with the content that the client read or the session later wrote. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { CausewayError } from '@causeway/protocol'
import type { FileContent } from '../domain/candidate/types.ts'
import { TrmError } from '../errors.ts'
import type { SeenFile, SessionRow } from '../store/rows.ts'
import type { TrmStore } from '../store/store.ts'
import { readFiles } from '../workspace/project-files.ts'
import type { Critic } from './critic.ts'

const [compress, decompress] = [promisify(deflate), promisify(inflate)]

/** Maximum length of a stored text, in characters. */
const maxLength = 2 ** 19

export const hashContent = (content: FileContent): string =>
  createHash('sha256').update(content).digest('hex')

export async function createSeenFile(content: FileContent | undefined): Promise<SeenFile> {
  if (content === undefined) return { sha: '', text: null }
  const isStored = typeof content === 'string' && content.length <= maxLength
  return { sha: hashContent(content), text: isStored ? await compress(content, { level: 1 }) : null }
}

/** Updates the rows of files that the session changed, if the client read them. */
export async function recordSessionChanges(
  store: TrmStore,
  { id, config }: SessionRow,
  paths: readonly string[],
): Promise<void> {
  const seenHashes = await store.readSeenHashes(id)
  const seenPaths = paths.filter((path) => seenHashes.has(path))
  if (seenPaths.length === 0) return
  const seenFiles = new Map<string, SeenFile>()
  for (const [path, content] of await readFiles(config.repo, seenPaths))
    seenFiles.set(path, await createSeenFile(content))
  await store.addSeen(id, seenFiles)
}

interface StaleFile {
  readonly path: string
  /** The sha on which the candidate is based. */
  readonly expectedHash: string
  /** `undefined` if the file was removed. */
  readonly currentContent: FileContent | undefined
}

/** Creates `STALE_FILE` with the changes since the client read the file, if both texts are known. */
export async function createStaleError(
  { store, engine }: Critic,
  sid: string,
  { path, expectedHash, currentContent }: StaleFile,
): Promise<CausewayError> {
  const isSeen = (await store.readSeenHashes(sid)).get(path) === expectedHash
  const compressedText = isSeen ? await store.readSeenText(sid, path) : undefined
  const seenText = compressedText === undefined ? undefined : (await decompress(compressedText)).toString()
  const isComparable = seenText !== undefined && typeof currentContent === 'string'
  const diff = isComparable
    ? await engine.call('formatDiff', { before: seenText, after: currentContent })
    : undefined
  const state = currentContent === undefined ? 'was removed' : 'changed after it was read'
  return new TrmError('STALE_FILE', `the file ${state}: ${path}`, {
    remedy:
      diff === undefined
        ? 'read it again, then submit a candidate for its current content'
        : 'submit a candidate for its current content, with data.sha_now as sha; data.diff contains the changes',
    data: {
      path,
      sha_read: expectedHash,
      sha_now: currentContent === undefined ? null : hashContent(currentContent),
      ...(diff === undefined ? {} : { diff }),
    },
  })
}
