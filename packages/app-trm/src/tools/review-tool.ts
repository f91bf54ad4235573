/** Reviewing a change by rules: a diff, files, or what a session has done so far. */

import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Critic } from '../critic.ts'
import { counted } from '../domain/counted.ts'
import type { ReviewedFile } from '../domain/review/changed-file.ts'
import { fetchingOff, pullRequest } from '../domain/review/pull-url.ts'
import type { Review } from '../domain/review/review.ts'
import { categories } from '../domain/suggest/finding.ts'
import { fetchDiff } from '../fetch-diff.ts'
import type { SessionRow } from '../rows.ts'
import { anyList, named, reading, sessionFor, type TrmContext, type TrmSession } from './shape.ts'

/** Longest text of a file that a review of a session reads, in UTF-16 units. */
const longest = 2 ** 20

/** The texts of the example. */
const example = {
  path: 'sums.py',
  content: 'def total(values):\n    print(values)\n    return sum(values)\n',
}

/** Declares trm.review. */
export function reviewTool(app: Registrar<Critic, TrmSession>): void {
  app.tool('review', {
    about:
      'Remarks on a change, with lines of the new files: a diff, files, or all that a session has changed so far. Rules only; runs nothing.',
    hints: reading,
    aliases: named('review', { pr_url: 'url', prUrl: 'url' }),
    input: {
      sid: z
        .string()
        .optional()
        .describe('reviews what this session has changed; the default without diff and files'),
      diff: z.string().max(10_000_000).optional().describe('a unified diff, as git diff prints it'),
      files: z
        .array(z.strictObject({ path: z.string().min(1), content: z.string(), orig: z.string().optional() }))
        .max(100)
        .optional()
        .describe('whole files; orig is the text before, without which all of it is new'),
      focus: z.array(z.enum(categories)).min(1).optional().describe('only these concerns'),
      url: z.string().optional().describe('pull request on GitHub, where the server may fetch it'),
    },
    output: {
      summary: z.unknown(),
      comments: anyList(),
      issues: z.array(z.string()),
      suggestions: z.array(z.string()),
      verdict: z.string(),
    },
    example: { args: { files: [example], focus: ['logging'] } },
    async run({ sid, diff: given, files, focus, url }, ctx) {
      const diff = url === undefined ? given : await diffAt(ctx, url)
      const isGiven = diff !== undefined || files !== undefined
      const isSession = sid !== undefined || hasSession(ctx)
      if (isGiven ? sid !== undefined : !isSession) {
        throw new CausewayError(
          'INVALID_ARGUMENTS',
          'review: give either diff, files or the sid of a session',
        )
      }
      const changed = isGiven ? files : await changedBy(ctx.store, await sessionFor(ctx, sid))
      const found = await ctx.store.engine.call(
        'review',
        { diff, files: changed, focus },
        { client: ctx.clientKey, signal: ctx.signal },
      )
      const prInfo = url === undefined ? {} : { prInfo: { url } }
      return { ...found, ...prInfo, verdict: verdict(found) }
    },
  })
}

/** The diff of a pull request; throws `INVALID_URL`, `REVIEW_URL_DISABLED`, `REVIEW_URL_FAILED`. */
function diffAt({ store: { fetch }, signal }: TrmContext, url: string): Promise<string> {
  const asked = pullRequest(url)
  if (fetch === undefined) throw fetchingOff(asked)
  return fetchDiff(asked, { fetch, signal })
}

/** Whether the client has started a session of its own, which is then reviewed. */
const hasSession = ({ session, sharedSession }: TrmContext): boolean =>
  !sharedSession && session.sid !== undefined

/** Every text file that a session has changed, as it was before the session and as it is now. */
async function changedBy(
  { store, snapshots, files }: Critic,
  { id, config }: SessionRow,
): Promise<readonly ReviewedFile[]> {
  const landings = await store.landings(id)
  if (landings.length === 0) return []
  const start = await snapshots.combine(landings.map(({ before }) => before))
  try {
    const paths = await snapshots.conflicts(start)
    const [then, now] = await Promise.all([snapshots.read(start, paths), files(config.repo).read(paths)])
    return paths.flatMap((path): ReviewedFile[] => {
      const [orig = '', content = ''] = [then.get(path), now.get(path)]
      const isText = typeof orig === 'string' && typeof content === 'string'
      return isText && orig.length + content.length <= longest ? [{ path, orig, content }] : []
    })
  } finally {
    await snapshots.drop(start)
  }
}

function verdict({ summary, issues }: Review): string {
  const { assessment, filesChanged, linesAdded, linesRemoved, commentsCount } = summary
  const first = issues[0] === undefined ? '' : ` First: ${issues[0]}.`
  return `${assessment}: ${counted(filesChanged, 'file')}, +${linesAdded} -${linesRemoved}, ${counted(commentsCount, 'remark')}.${first}`
}
