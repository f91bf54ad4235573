/** What is wrong with a recording, and where it began. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { diagnose } from '../diagnose.ts'
import { frameRange } from '../domain/frame-range.ts'
import { diagnosisSummary, rankedRow } from '../domain/laws/finding-view.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { hints, recordingArgument, rows, runArguments, stamp } from './shape.ts'

/** Findings in an answer unless more are asked for: they fit in 2 kB. */
const shown = 4

/** Declares diagnose. */
export function diagnoseTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('diagnose', {
    about: 'Start here: every law over the frames; ranked findings, cause first, each a run of frames.',
    hints,
    input: {
      start_frame: runArguments.start_frame,
      end_frame: runArguments.end_frame,
      max_findings: z.int().min(1).max(200).default(shown).describe('most findings'),
      ...recordingArgument,
    },
    output: { ...stamp, findings: rows() },
    task: 'optional',
    example: { args: { recording: 'energy_injection' } },
    async run({ max_findings, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const range = frameRange(bounds, recording.summary.frames)
      const { findings, frames } = await diagnose(recording, range, ctx)
      const counts: Record<string, number> = {}
      for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1
      return {
        ...stamp,
        frames_checked: frames,
        findings: findings.slice(0, max_findings).map(rankedRow),
        count: findings.length,
        counts,
        truncated: findings.length > max_findings,
        summary: diagnosisSummary(findings, frames),
      }
    },
  })
}
