/** Two recordings: where they part, and by how much. */
import type { Registrar } from '@causeway/app-kit'
import type { Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { type Compared, type CompareOptions, compareRecordings } from '../compare.ts'
import type { Divergence, Tolerance } from '../domain/comparison.ts'
import { count, quantity, readable } from '../domain/sentence.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { hints, stamp } from './shape.ts'

const pairArguments = {
  a: z.string().describe('id or path'),
  b: z.string().describe('id or path'),
  tolerance: z.number().optional().describe('default 1e-6'),
  exact: z.boolean().optional().describe('bit by bit'),
  align: z.enum(['frame', 'time']).optional().describe('default frame'),
}

/** Declares find_first_divergence and compare_recordings. */
export function compareTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('find_first_divergence', {
    about: 'First frame in which two recordings differ, and how.',
    hints,
    input: pairArguments,
    output: stamp,
    task: 'optional',
    example: { args: { a: 'incline_slides', b: 'incline_sticks' } },
    async run(args, ctx) {
      const { a, b, compared } = await compare(args, ctx, true)
      const all = compared.comparer.divergences()
      const [first] = all
      const at = all.filter(({ first_frame_a }) => first_frame_a === first?.first_frame_a)
      return {
        ...compared.told,
        first_frame: first?.first_frame_a ?? null,
        first_frame_b: first?.first_frame_b ?? null,
        differs: at.map(differenceAt),
        ...(first === undefined
          ? {}
          : {
              frame_a: solverOf(await a.frame(first.first_frame_a)),
              frame_b: solverOf(await b.frame(first.first_frame_b)),
            }),
        summary: divergenceSummary(compared, at, args.exact),
      }
    },
  })

  app.tool('compare_recordings', {
    about: 'Differences of two recordings: first, greatest, growth.',
    hints,
    input: pairArguments,
    output: stamp,
    task: 'optional',
    example: { args: { a: 'incline_slides', b: 'incline_sticks' } },
    async run(args, ctx) {
      const { compared } = await compare(args, ctx, false)
      const divergences = compared.comparer.divergences()
      const [first] = divergences
      const greatest = divergences.find(({ field }) => field === 'position')
      const growth =
        greatest === undefined
          ? ''
          : ` Positions part by up to ${quantity(greatest.greatest, 'm')} in frame ${greatest.greatest_frame_a}.`
      return {
        ...compared.told,
        first_frame: first?.first_frame_a ?? null,
        divergences,
        summary: `${divergenceSummary(compared, divergences.slice(0, 1), args.exact)}${growth}`,
      }
    },
  })
}

const usualTolerance = 1e-6

type Arguments = z.output<z.ZodObject<typeof pairArguments>>

async function compare(args: Arguments, ctx: ReplayContext, untilFirst: boolean) {
  const { recording: a, stamp: stampA } = await opened(ctx, args.a)
  const { recording: b, stamp: stampB } = await opened(ctx, args.b)
  const size = Math.max(0, args.tolerance ?? usualTolerance)
  const tolerance: Tolerance = args.exact ? { exact: true } : { exact: false, absolute: size, relative: size }
  const options: CompareOptions = {
    tolerance,
    align: args.align ?? 'frame',
    untilFirst,
    signal: ctx.signal,
    progress: (...told) => ctx.progress(...told),
  }
  const compared = await compareRecordings(a, b, options)
  const { matches, only_a, only_b } = compared.matching
  const told = {
    recording: stampA.recording,
    recording_b: stampB.recording,
    compared_frames: compared.comparer.compared,
    frames_a: framesOf(a),
    frames_b: framesOf(b),
    bodies: matches.length,
    renamed_bodies: matches.filter(({ by }) => by !== 'id'),
    only_a,
    only_b,
    parameters: changedBodies(a, b, compared),
  }
  return { a, b, compared: { ...compared, told } }
}

const framesOf = ({ summary: { frames } }: Recording): number => frames?.total_frames ?? 0

/** Bodies whose mass, restitution or friction is another one. */
function changedBodies(a: Recording, b: Recording, { matching }: Compared) {
  return matching.matches.flatMap((match) => {
    const one = a.summary.bodies.find(({ body_id }) => body_id === match.a)
    const other = b.summary.bodies.find(({ body_id }) => body_id === match.b)
    return (['mass', 'restitution', 'friction'] as const).flatMap((parameter) =>
      one?.[parameter] === other?.[parameter]
        ? []
        : [{ body_id: match.a, parameter, a: one?.[parameter] ?? null, b: other?.[parameter] ?? null }],
    )
  })
}

const differenceAt = ({ field, unit, body_id, value_a, value_b, difference }: Divergence) => ({
  field,
  body_id,
  value_a,
  value_b,
  difference,
  unit,
})

const solverOf = ({ frame_id, solver, collisions }: Frame) => ({
  frame_id,
  solver,
  pairs: collisions.map(({ body_a_id, body_b_id, penetration_depth }) => [
    body_a_id,
    body_b_id,
    penetration_depth,
  ]),
})

function divergenceSummary({ comparer }: Compared, at: readonly Divergence[], isExact = false): string {
  const frames = count(comparer.compared, 'frame')
  const [first] = at
  if (first === undefined)
    return `No difference in ${frames}${isExact ? ', bit by bit' : ' beyond the tolerance'}.`
  const { field, unit, body_id, value_a, value_b, difference } = first
  const values =
    typeof value_a === 'number' && typeof value_b === 'number'
      ? `${readable(value_a)} against ${readable(value_b)} ${unit}, ${readable(difference)} apart`
      : `${value_a || 'none'} against ${value_b || 'none'}`
  const others = at.slice(1).map((one) => one.field)
  return `First difference in frame ${first.first_frame_a}: ${field}${body_id === null ? '' : ` of body ${body_id}`}, ${values}${others.length === 0 ? '' : `; also ${others.join(', ')}`}.`
}
