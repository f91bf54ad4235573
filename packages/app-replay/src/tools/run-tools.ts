import { CausewayError } from '@causeway/protocol'
import type { RunSummary } from '@causeway/recording'
import { z } from 'zod'
import { paginate } from '../domain/cursor.ts'
import { findingKinds } from '../domain/findings/finding.ts'
import { type CommitRuns, compareCommits, countKinds, groupByCommit } from '../domain/runs/commits.ts'
import { findRegression, listMetrics, parseMetric } from '../domain/runs/regression.ts'
import { filterRuns, orderRuns, parseFilter } from '../domain/runs/run-filter.ts'
import {
  countRuns,
  summarizeCommits,
  summarizeRegression,
  summarizeRuns,
  summarizeSimilar,
} from '../domain/runs/run-sentences.ts'
import { rankSimilarRuns } from '../domain/runs/similarity.ts'
import { ReplayError } from '../errors.ts'
import { openRecording, type ReplayContext } from '../session/session.ts'
import { pageArguments, type Registration, readOnly } from './recording-tool.ts'

const maxCommits = 200
const maxSimilar = 20

export const runTools: readonly Registration[] = [
  (app) =>
    app.tool('list_runs', {
      title: 'List runs',
      about:
        'List runs with commit, first bad frame and worst values. Use it to find runs since a date, of a scenario, or that failed.',
      hints: readOnly,
      input: {
        where: z
          .unknown()
          .optional()
          .describe('Such as {"since": "2026-11-01", "scenario": "stack", "kind": "blow_up", "bad": true}'),
        order: z.string().optional().describe('Such as -worst_penetration_m. Default: newest first'),
        ...pageArguments,
      },
      example: { args: { where: { bad: true } } },
      async run({ where, order, cursor, max_points }, { store }) {
        const { runs, waiting } = listRuns(store, where)
        const page = paginate(orderRuns(runs, order), (_, index) => index, { cursor, limit: max_points })
        const counts = countRuns(runs, waiting)
        return {
          runs: page.items.map(toRow),
          ...counts,
          kinds: countKinds(runs.flatMap(({ verdict }) => verdict ?? [])),
          truncated: page.items.length < runs.length,
          next_cursor: page.next_cursor,
          summary: summarizeRuns(counts),
        }
      },
    }),

  (app) =>
    app.tool('compare_commits', {
      title: 'Compare commits',
      about:
        'Return per commit the runs, the share of bad ones, kinds of findings and medians of the worst values. Use it to see how a scenario evolves.',
      hints: readOnly,
      input: { scenario: z.string().optional().describe('Default: all') },
      example: { args: {} },
      async run({ scenario }, { store }) {
        const { runs, waiting } = listRuns(store, scenario === undefined ? {} : { scenario })
        const commits = groupByCommit(runs)
        const rows = compareCommits(commits.slice(-maxCommits))
        const counts = countRuns(runs, waiting)
        return {
          scenario: scenario ?? null,
          commits: rows,
          ...counts,
          without_commit: runs.filter(({ commit }) => commit === null).length,
          truncated: rows.length < commits.length,
          summary: summarizeCommits(rows, counts),
        }
      },
    }),

  (app) =>
    app.tool('find_regression', {
      title: 'Find regression',
      about: 'Find the commit from which on more runs are bad. Use it when runs became worse.',
      hints: readOnly,
      input: {
        metric: z
          .string()
          .optional()
          .describe('bad, finding kind, or worst_penetration_m > 0.01. Default: all'),
        since: z.string().optional().describe('Oldest commit'),
        where: z.unknown().optional().describe('As in list_runs'),
      },
      example: { args: { metric: 'bad' } },
      async run({ metric, since, where }, { store }) {
        const { runs, waiting } = listRuns(store, where)
        const commitsSince = selectSince(groupByCommit(runs), since)
        const commits = commitsSince.slice(-maxCommits)
        const includedRuns = commits.flatMap((group) => group.runs)
        const metrics = metric === undefined ? listMetrics(includedRuns) : [parseMetric(metric, findingKinds)]
        const regression = findRegression(commits, metrics)
        const counts = countRuns(includedRuns, waiting)
        return {
          ...regression,
          metrics: metrics.map(({ name }) => name),
          commits: commits.length,
          ...counts,
          without_commit: runs.filter(({ commit }) => commit === null).length,
          truncated: commits.length < commitsSince.length,
          summary: summarizeRegression(regression, commits.length, counts),
        }
      },
    }),

  (app) =>
    app.tool('runs_like', {
      title: 'Find similar runs',
      about:
        'Find the runs that failed most like this one, with similarity 0 to 1. Use it to see whether a fault is known.',
      hints: readOnly,
      input: { recording: z.string().describe('Id or path') },
      example: { before: [{ tool: 'diagnose', args: { recording: 'nan' } }], args: { recording: 'nan' } },
      async run({ recording }, ctx) {
        const target = await findSummary(recording, ctx)
        const similarRuns = rankSimilarRuns(target, ctx.store.runs.list().runs)
        return {
          recording: target.recording,
          runs: similarRuns
            .slice(0, maxSimilar)
            .map(({ run, ...similarity }) => ({ ...similarity, ...toRow(run) })),
          compared: similarRuns.length,
          summary: summarizeSimilar(target, similarRuns, similarRuns.length),
        }
      },
    }),
]

/** Runs without a summary may match, so they are counted as `waiting`. */
function listRuns({ runs: summaries }: ReplayContext['store'], where: unknown) {
  const filter = parseFilter(where)
  const { runs, waiting } = summaries.list(filter.scenario)
  return { runs: filterRuns(runs, filter), waiting }
}

/** Returns commits from `since` on. Throws `INVALID_ARGUMENTS` if no run has it. */
function selectSince(commits: readonly CommitRuns[], since: string | undefined): readonly CommitRuns[] {
  if (since === undefined) return commits
  const at = commits.findIndex(({ commit }) => commit.startsWith(since))
  if (at !== -1) return commits.slice(at)
  throw new CausewayError('INVALID_ARGUMENTS', `no run has the commit ${since.slice(0, 80)}`, {
    remedy: 'use a commit of compare_commits',
    data: { problems: [{ argument: 'since', problem: 'is not the commit of a run' }] },
  })
}

async function findSummary(idOrPath: string, ctx: ReplayContext): Promise<RunSummary> {
  const { runs } = ctx.store
  const knownSummary = runs.find(idOrPath)
  const summary = knownSummary ?? runs.find((await openRecording(ctx, idOrPath)).stamp.recording)
  if (summary?.verdict) return summary
  throw new ReplayError('NOT_DIAGNOSED', `the recording was not diagnosed: ${idOrPath}`, {
    data: { recording: idOrPath },
  })
}

function toRow({ verdict, revision, ...facts }: RunSummary) {
  if (verdict === null) return { ...facts, diagnosed: false }
  const { checked, not_checked, ...findings } = verdict
  return {
    ...facts,
    diagnosed: true,
    laws_checked: checked.length,
    laws_not_checked: not_checked,
    ...findings,
  }
}
