import { absent, diskEntry, hasSameContent, isSameEntry } from './disk-entry.ts'
import type { Manifest } from './manifest.ts'
import { placed } from './place.ts'
import { recordPaths } from './record.ts'
import type { ShadowGit } from './shadow-git.ts'
import { type TreeLimits, treeFiles } from './tree-list.ts'
import type { SnapshotDifference, SnapshotEntry } from './types.ts'

/** Longest text of a diff and largest file of one: 1 MiB. */
const longest = 2 ** 20

/** How the disk differs from a snapshot; one of a whole project also tells what was created since. */
export async function differences(
  git: ShadowGit,
  { root, isWhole, entries }: Manifest,
  limits: TreeLimits,
): Promise<readonly SnapshotDifference[]> {
  const known = new Map(entries.map((entry) => [entry.path, entry]))
  const now = isWhole ? (await treeFiles(git, root, limits)).map(({ path }) => path) : []
  const paths = [...new Set([...known.keys(), ...now])].sort()
  const found: SnapshotDifference[] = []
  for (const path of paths) {
    const then = known.get(path) ?? absent(path)
    const { absolute, stats } = await placed(root, path)
    const current = await diskEntry(path, absolute, stats)
    if (isSameEntry(then, current)) continue
    found.push({ path, kind: kindOf(then, current), diff: await diffOf(git, root, then, current) })
  }
  return found
}

function kindOf(then: SnapshotEntry, now: SnapshotEntry): SnapshotDifference['kind'] {
  if (then.kind === 'absent') return 'created'
  if (now.kind === 'absent') return 'deleted'
  return hasSameContent(then, now) ? 'mode' : 'modified'
}

async function diffOf(
  git: ShadowGit,
  root: string,
  then: SnapshotEntry,
  now: SnapshotEntry,
): Promise<string | null> {
  const isPlain = [then, now].every(
    ({ kind, bytes }) => (kind === 'file' || kind === 'absent') && bytes <= longest,
  )
  if (!isPlain || hasSameContent(then, now)) return null
  const nothing = (await git.run(['hash-object', '-w', '--stdin'])).toString().trim()
  const [recorded] = await recordPaths(git, root, [now.path])
  const blobs = [then.blob || nothing, recorded?.blob || nothing]
  const text = (await git.run(['diff', '--no-ext-diff', '--no-textconv', '--no-color', ...blobs])).toString()
  const hunks = text.indexOf('\n@@ ')
  if (hunks === -1 || text.length > longest) return null
  const name = (prefix: string, { kind, path }: SnapshotEntry) =>
    kind === 'absent' ? '/dev/null' : prefix + path
  return `--- ${name('a/', then)}\n+++ ${name('b/', now)}${text.slice(hunks)}`
}
