import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { categories } from '../domain/advice/category.ts'
import type { Review, ReviewedFile } from '../domain/advice/review.ts'
import { splitLines } from '../domain/file-part.ts'
import { formatCount } from '../domain/format.ts'
import { TrmError } from '../errors.ts'
import { type Advice, createAdvice } from '../evaluation/advice.ts'
import type { Critic } from '../session/critic.ts'
import type { SessionRow } from '../store/rows.ts'
import { readFiles } from '../workspace/project-files.ts'
import {
  type ClientState,
  createAliases,
  createUnknownListSchema,
  exampleStart,
  exampleSubmit,
  findSession,
  readHints,
  sidArgument,
  type TrmContext,
} from './tool-context.ts'

const output = { suggestions: createUnknownListSchema(), message: z.string(), summary: z.string() }

const createEmptyResult = (message: string) => ({ suggestions: [], message, summary: `${message}.` })

export function declareAdviceTools(app: Registrar<Critic, ClientState>): void {
  declareSuggestTool(app)
  declareFixTool(app)
  declareReviewTool(app)
}

function declareSuggestTool(app: Registrar<Critic, ClientState>): void {
  app.tool('suggest', {
    title: 'Suggest next change',
    about:
      'List at most five things to do next, the most urgent first, from the last evaluation: failing tests, changed tests, failed checks, lint problems and a slower benchmark. Use it to choose the next candidate.',
    searchHint: 'what to try next',
    hints: readHints,
    aliases: createAliases('suggest'),
    input: sidArgument,
    output,
    example: { before: [exampleStart, exampleSubmit], args: {} },
    async run({ sid }, ctx) {
      const advice = await createAdvice(ctx.store, await findSession(ctx, sid))
      if (advice === undefined) return createEmptyResult('No evaluations yet')
      const { result, problems, files, fixes } = advice
      const fixableFiles = new Set(
        fixes.flatMap(({ candidateToFix: fix }) =>
          'changes' in fix ? fix.changes.map(({ path }) => path) : [],
        ),
      )
      const suggestions = await ctx.store.engine.call(
        'suggest',
        { result, problems, files, fixableFiles },
        { client: ctx.clientKey, signal: ctx.signal },
      )
      const [first] = suggestions
      if (first !== undefined)
        return {
          suggestions,
          message: formatCount(suggestions.length, 'suggestion'),
          summary: `First: ${first.issue}.`,
        }
      return {
        ...createEmptyResult('Nothing to suggest'),
        summary:
          result.signals.length === 0
            ? 'The session has no commands: start one with commands from detected.'
            : 'Every signal is good.',
      }
    },
  })
}

function declareFixTool(app: Registrar<Critic, ClientState>): void {
  app.tool('fix', {
    title: 'Find certain repairs',
    about:
      'Return repairs for missing imports and misspelled names in the last errors, as candidates that can be submitted unchanged; otherwise the places to look at, with their lines. Use it after an evaluation with errors.',
    searchHint: 'missing import, typo, automatic repair',
    hints: readHints,
    aliases: createAliases('fix'),
    input: sidArgument,
    output: { ...output, focus: createUnknownListSchema() },
    example: { before: [exampleStart, exampleSubmit], args: {} },
    async run({ sid }, ctx) {
      const advice = await createAdvice(ctx.store, await findSession(ctx, sid))
      if (advice === undefined)
        return { ...createEmptyResult('No evaluations yet; submit a candidate first'), focus: [] }
      const { fixes, problems, result } = advice
      if (fixes.length > 0)
        return {
          suggestions: fixes,
          focus: [],
          message: formatCount(fixes.length, 'repair'),
          summary: `Submit a candidateToFix unchanged. First: ${fixes[0]?.issue}.`,
        }
      const isGreen =
        problems.length === 0 && result.failures.length === 0 && result.signals.every(({ ok }) => ok)
      if (isGreen) return { ...createEmptyResult('No errors detected'), focus: [] }
      const focus = findFocus(advice)
      const locations = focus.map(({ file, line }) => `${file}:${line}`).join(', ')
      const message = 'No repair is certain'
      const hint = focus.length === 0 ? 'feedback in state' : locations
      return { ...createEmptyResult(message), focus, summary: `${message}. Look at ${hint}.` }
    },
  })
}

/** Returns up to three locations with five lines before and after each. */
function findFocus({ problems, result, files, changedIn }: Advice) {
  const locations = [...problems, ...result.failures].flatMap(({ file, line }) =>
    file === undefined || line === undefined ? [] : [{ file, line }],
  )
  const uniqueLocations = [
    ...new Map(locations.map((location) => [`${location.file}:${location.line}`, location])).values(),
  ]
  return uniqueLocations.slice(0, 3).map(({ file, line }) => {
    const lines = splitLines(files.get(file) ?? '')
    const first = Math.max(1, line - 5)
    return {
      file,
      line,
      lines: lines.slice(first - 1, line + 5).map((text, index) => `${first + index}: ${text}`),
      lastChangedInStep: changedIn.get(file) ?? null,
    }
  })
}

/** In UTF-16 units. */
const maxReviewLength = 2 ** 20

const exampleFile = {
  path: 'sums.py',
  content: 'def total(values):\n    print(values)\n    return sum(values)\n',
}

function declareReviewTool(app: Registrar<Critic, ClientState>): void {
  app.tool('review', {
    title: 'Review changes',
    about:
      'Review a diff, files, or all changes of a session with fixed rules. Returns comments with lines of the new files, and an assessment; runs nothing. Use it before ending a session or for a pull request (send its diff).',
    searchHint: 'code review, feedback on changes',
    hints: readHints,
    aliases: createAliases('review', { prUrl: 'url' }),
    input: {
      sid: z
        .string()
        .optional()
        .describe('Review the changes of this session; default without diff and files'),
      diff: z.string().max(10_000_000).optional().describe('Unified diff, as git diff prints it'),
      files: z
        .array(z.strictObject({ path: z.string().min(1), content: z.string(), orig: z.string().optional() }))
        .max(100)
        .optional()
        .describe('Whole files; orig is the text before, without which all of it is new'),
      focus: z.array(z.enum(categories)).min(1).optional().describe('Only these categories'),
      url: z.string().optional().describe('Not supported: send the diff of the pull request'),
    },
    output: {
      summary: z.unknown(),
      comments: createUnknownListSchema(),
      issues: z.array(z.string()),
      suggestions: z.array(z.string()),
      verdict: z.string(),
    },
    example: { args: { files: [exampleFile], focus: ['logging'] } },
    async run({ sid, diff, files, focus, url }, ctx) {
      if (url !== undefined)
        throw new TrmError('REVIEW_URL_DISABLED', 'pull requests are not fetched', { data: { url } })
      const hasInput = diff !== undefined || files !== undefined
      const hasSession = sid !== undefined || (!ctx.sharedSession && ctx.session.sid !== undefined)
      if (hasInput ? sid !== undefined : !hasSession)
        throw new CausewayError(
          'INVALID_ARGUMENTS',
          'review: pass either diff, files or the sid of a session',
        )
      const changedFiles = hasInput ? files : await readSessionChanges(ctx, await findSession(ctx, sid))
      const reviewResult = await ctx.store.engine.call(
        'review',
        { diff, files: changedFiles, focus },
        { client: ctx.clientKey, signal: ctx.signal },
      )
      return { ...reviewResult, verdict: formatVerdict(reviewResult) }
    },
  })
}

async function readSessionChanges(
  { store: { store, snapshots } }: TrmContext,
  { id, config }: SessionRow,
): Promise<readonly ReviewedFile[]> {
  const landings = await store.listLandings(id)
  if (landings.length === 0) return []
  const start = await snapshots.combine(landings.map(({ before }) => before))
  const paths = await snapshots.findChanged(start)
  const [before, now] = await Promise.all([snapshots.read(start, paths), readFiles(config.repo, paths)])
  return paths.flatMap((path): ReviewedFile[] => {
    const [orig = '', content = ''] = [before.get(path), now.get(path)]
    const isText = typeof orig === 'string' && typeof content === 'string'
    return isText && orig !== content && orig.length + content.length <= maxReviewLength
      ? [{ path, orig, content }]
      : []
  })
}

function formatVerdict({ summary, issues }: Review): string {
  const { assessment, filesChanged, linesAdded, linesRemoved, commentsCount } = summary
  const first = issues[0] === undefined ? '' : ` First: ${issues[0]}.`
  return `${assessment}: ${formatCount(filesChanged, 'file')}, +${linesAdded} -${linesRemoved}, ${formatCount(commentsCount, 'comment')}.${first}`
}
