import type { Contents } from './contents.ts'
import type { ShadowGit } from './shadow-git.ts'
import type { SnapshotId } from './types.ts'

/** Where a snapshot hangs, safe from `git gc`. */
const refOf = (id: SnapshotId): string => `refs/snapshots/${id}`

/** Contents in a repository of git: each list a tree that holds it and all that it names. */
export function gitContents(git: ShadowGit, keepMs: number): Contents {
  const keepText = async (text: string) =>
    (await git.run(['hash-object', '-w', '--stdin'], { input: text })).toString().trim()
  return {
    keepText,
    async keepFiles(files) {
      if (files.length === 0) return []
      const input = files.map((file) => `${file}\n`).join('')
      const args = ['hash-object', '-w', '--no-filters', '--stdin-paths']
      return (await git.run(args, { input })).toString().trim().split('\n')
    },
    read: (blob) => git.attempt(['cat-file', 'blob', blob]),
    async copyTo(blob, file) {
      return (await git.attempt(['cat-file', 'blob', blob], { stdout: file.fd })) !== undefined
    },
    async keepList(id, text, blobs) {
      const list = await keepText(text)
      const input = [
        `100644 blob ${list}\tentries\n`,
        ...[...new Set(blobs)].map((blob) => `100644 blob ${blob}\t${blob}\n`),
      ]
      const tree = await git.run(['mktree'], { input: input.join('') })
      await git.run(['update-ref', refOf(id), tree.toString().trim()])
    },
    list: async (id) => (await git.attempt(['cat-file', 'blob', `${refOf(id)}:entries`]))?.toString(),
    async drop(ids) {
      const format = ['for-each-ref', '--format=%(refname)', 'refs/snapshots']
      const there = new Set((await git.run(format)).toString().split('\n'))
      const refs = [...new Set(ids.map(refOf))].filter((ref) => there.has(ref))
      await git.run(['update-ref', '--stdin'], { input: refs.map((ref) => `delete ${ref}\n`).join('') })
    },
    async collect() {
      const expire = keepMs === 0 ? 'now' : `${Math.ceil(keepMs / 1000)}.seconds.ago`
      await git.run(['gc', '--quiet', `--prune=${expire}`])
    },
  }
}
