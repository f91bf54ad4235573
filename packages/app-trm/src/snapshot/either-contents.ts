import { CausewayError } from '@causeway/protocol'
import type { Contents } from './contents.ts'

/** The two places, and which of them can be used. */
export interface EitherContents {
  readonly git: Contents
  readonly rows: Contents
  hasGit(): Promise<boolean>
  /** True where something was kept by git before. */
  wasGit(): boolean
}

/** Keeps with git where there is git, and finds what either holds: git may come and go. */
export function eitherContents({ git, rows, hasGit, wasGit }: EitherContents): Contents {
  const keeper = async () => ((await hasGit()) ? git : rows)
  /** Git where it may hold what is looked for; throws `SNAPSHOT_UNAVAILABLE` where it does and cannot be asked. */
  async function earlier(): Promise<Contents | undefined> {
    if (!wasGit()) return undefined
    if (await hasGit()) return git
    throw new CausewayError(
      'SNAPSHOT_UNAVAILABLE',
      'git has kept this snapshot and is not in the search path',
    )
  }
  return {
    keepFiles: async (files) => (await keeper()).keepFiles(files),
    keepText: async (text) => (await keeper()).keepText(text),
    keepList: async (id, list, blobs) => (await keeper()).keepList(id, list, blobs),
    read: async (blob) => (await rows.read(blob)) ?? (await earlier())?.read(blob),
    copyTo: async (blob, file) =>
      (await rows.copyTo(blob, file)) || ((await (await earlier())?.copyTo(blob, file)) ?? false),
    list: async (id) => (await rows.list(id)) ?? (await earlier())?.list(id),
    async drop(ids) {
      await rows.drop(ids)
      if (wasGit() && (await hasGit())) await git.drop(ids)
    },
    async collect() {
      await rows.collect()
      if (wasGit() && (await hasGit())) await git.collect()
    },
  }
}
