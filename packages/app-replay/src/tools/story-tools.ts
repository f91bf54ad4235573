/** One frame explained, what happens over time, and where the solver gave up. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import type { EventsResult, StallsResult } from '../analysis/events.ts'
import { diagnose } from '../diagnose.ts'
import { requireAny } from '../domain/capability.ts'
import { page } from '../domain/cursor.ts'
import { explainFrame } from '../domain/frame-balance.ts'
import { frameRange } from '../domain/frame-range.ts'
import { findingRow, findingSentence } from '../domain/laws/finding-view.ts'
import { count, quantity, readable, several } from '../domain/sentence.ts'
import { eventKinds } from '../domain/timeline.ts'
import { forceScale } from '../force-scale.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import {
  defaultPoints,
  frameArgument,
  hints,
  recordingArgument,
  runArguments,
  runsShown,
  stamp,
} from './shape.ts'

/** Frames around a frame that are looked at for what is wrong in it. */
const around = 40

/** Declares explain_frame, timeline and find_solver_stalls. */
export function storyTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('explain_frame', {
    about: 'Forces per body (N), contacts, energy, solver, what changed and which laws broke in a frame.',
    hints,
    input: { frame_id: frameArgument, ...recordingArgument },
    output: stamp,
    example: { args: { recording: 'slide_at_45', frame_id: 45 } },
    async run({ frame_id, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const frame = await recording.frame(frame_id)
      const before = await frameBefore(recording, frame_id)
      const story = explainFrame(frame, before, recording.summary, await forceScale(recording, frame))
      const near = frameRange(
        { start_frame: frame_id - around, end_frame: frame_id + around },
        recording.summary.frames,
      )
      const { findings } = await diagnose(recording, near, ctx)
      const present = findings.filter(({ frames }) => frames.first <= frame_id && frame_id <= frames.last)
      const { contacts } = story
      const touching =
        contacts === null ? 'contacts not recorded' : `${count(contacts.length, 'pair')} in contact`
      const most = story.balances.reduce(
        (worst, one) => ((one.unexplained_n ?? 0) > (worst?.unexplained_n ?? 0) ? one : worst),
        story.balances[0],
      )
      return {
        ...stamp,
        frame_id,
        simulation_time: frame.simulation_time,
        ...story,
        balances: story.balances.slice(0, defaultPoints),
        contacts: contacts?.slice(0, defaultPoints) ?? null,
        system_energy: frame.system_energy,
        solver: frame.solver,
        findings: present.map(findingRow),
        summary: [
          `Frame ${frame_id} (${quantity(frame.simulation_time, 's')}): ${count(story.balances.length, 'body', 'bodies')}, ${touching}.`,
          story.changes.length > 0 ? ` ${story.changes.slice(0, 3).join('; ')}.` : '',
          most?.unexplained_n == null
            ? ''
            : ` Greatest unexplained force ${quantity(most.unexplained_n, 'N')} on body ${most.body_id}.`,
          present[0] === undefined
            ? ` No law is broken here${contacts === null ? ', as far as states and energies tell' : ''}.`
            : ` ${findingSentence(present[0])}.`,
        ].join(''),
      }
    },
  })

  app.tool('timeline', {
    about:
      'Events: contact, impact (N·s), rest, sliding, injection, non-convergence, deepest overlap, tunnelling.',
    hints,
    input: {
      ...runArguments,
      kinds: z.array(z.string()).optional().describe('event kinds to keep'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'drop' } },
    async run({ cursor, kinds, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireKinds(kinds)
      const range = frameRange(bounds, recording.summary.frames)
      const result = await recording.analyse<EventsResult>('events', { range }, ctx)
      const chosen = result.events.filter(({ kind }) => kinds === undefined || kinds.includes(kind))
      const { items, next_cursor } = page(chosen, (_, index) => index, { cursor, limit: runsShown })
      const counts: Record<string, number> = {}
      for (const { kind } of chosen) counts[kind] = (counts[kind] ?? 0) + 1
      const told = Object.entries(counts).map(([kind, n]) => `${n} ${kind}`)
      return {
        ...stamp,
        events: items,
        count: chosen.length,
        counts,
        truncated: items.length < chosen.length,
        next_cursor,
        summary: `${count(chosen.length, 'event')}${told.length > 0 ? `: ${told.join(', ')}` : ''}.`,
      }
    },
  })

  app.tool('find_solver_stalls', {
    about: 'Runs without convergence: residual, growth, iterations at cap, bodies, mass ratio.',
    hints,
    input: { ...runArguments, ...recordingArgument },
    output: stamp,
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['solver'])
      const range = frameRange(bounds, recording.summary.frames)
      const { stalls, judged, iterations_cap } = await recording.analyse<StallsResult>(
        'stalls',
        { range },
        ctx,
      )
      const { items, next_cursor } = page(stalls, (_, index) => index, { cursor, limit: runsShown })
      const [first] = stalls
      return {
        ...stamp,
        runs: items,
        count: stalls.length,
        frames_judged: judged,
        iterations_cap,
        truncated: items.length < stalls.length,
        next_cursor,
        summary:
          first === undefined
            ? `${count(judged, 'frame')} with constraints: the solver converged in all.`
            : `${count(stalls.length, 'stall')} in ${count(judged, 'frame')} with constraints. First: frames ${first.frames.first} to ${first.frames.last}, bodies ${several(first.bodies)}, residual ${readable(first.residual)}, mass ratio ${readable(first.mass_ratio)}.`,
      }
    },
  })
}

async function frameBefore(recording: Recording, frameId: number): Promise<Frame | null> {
  try {
    return await recording.frame(frameId - 1)
  } catch (error) {
    if (isCausewayError(error) && error.code === 'FRAME_NOT_FOUND') return null
    throw error
  }
}

/** Throws `INVALID_ARGUMENTS` for what is no kind of event; the listing does not name them, to stay small. */
function requireKinds(kinds: readonly string[] | undefined): void {
  const unknown = kinds?.find((kind) => !(eventKinds as readonly string[]).includes(kind))
  if (unknown === undefined) return
  throw new CausewayError('INVALID_ARGUMENTS', `not a kind of event: ${unknown}`, {
    data: { problems: [{ argument: 'kinds', problem: `is not one of ${eventKinds.join(', ')}` }] },
  })
}
