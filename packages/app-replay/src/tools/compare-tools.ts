import type { BodyId, Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { type BodyNames, nameBodies } from '../domain/bodies/body-names.ts'
import type { Divergence, Tolerance } from '../domain/recordings/comparison.ts'
import { formatCount, formatNumber, formatQuantity } from '../domain/sentence.ts'
import { readBodyNames } from '../session/body-names.ts'
import { type ComparedRecordings, compareRecordings } from '../session/compare-recordings.ts'
import { openRecording, type ReplayContext } from '../session/session.ts'
import { type Registration, readOnly } from './recording-tool.ts'

const defaultTolerance = 1e-6

const maxPairs = 3

const pairArguments = {
  a: z.string().describe('Id or path'),
  b: z.string().describe('Id or path'),
  tolerance: z.number().optional().describe('Default: 1e-6'),
  exact: z.boolean().optional().describe('Bit by bit'),
  align: z.enum(['frame', 'time']).optional().describe('Default: frame'),
}

const sharedOptions = {
  hints: readOnly,
  task: 'optional' as const,
  example: { args: { a: 'incline_slides', b: 'incline_sticks' } },
}

export const compareTools: readonly Registration[] = [
  (app) =>
    app.tool('compare_recordings', {
      title: 'Compare recordings',
      about:
        'Compare two runs: the first difference, and the growth per field. Use it after a change, or to check determinism.',
      searchHint: 'before and after, regression',
      ...sharedOptions,
      input: {
        ...pairArguments,
        first_only: z.boolean().optional().describe('Only the first difference'),
      },
      run: ({ first_only = false, ...args }, ctx) => compare(args, ctx, first_only),
    }),

  (app) =>
    app.tool('find_first_divergence', {
      title: 'Find first divergence',
      about: 'Find the first frame in which two recordings differ: compare_recordings with first_only.',
      ...sharedOptions,
      unlisted: true,
      input: pairArguments,
      run: (args, ctx) => compare(args, ctx, true),
    }),
]

type Arguments = z.output<z.ZodObject<typeof pairArguments>>

async function compare(args: Arguments, ctx: ReplayContext, firstOnly: boolean) {
  const { recording: a, stamp: stampA } = await openRecording(ctx, args.a)
  const { recording: b, stamp: stampB } = await openRecording(ctx, args.b)
  const toleranceValue = Math.max(0, args.tolerance ?? defaultTolerance)
  const tolerance: Tolerance = args.exact
    ? { exact: true }
    : { exact: false, absolute: toleranceValue, relative: toleranceValue }
  const { signal, progress } = ctx
  const options = { tolerance, align: args.align ?? 'frame', firstOnly, signal, progress }
  const compared = await compareRecordings(a, b, options)
  const { matches, only_a, only_b } = compared.matching
  const divergences = compared.comparison.listDivergences()
  const [first] = divergences
  const firstDivergences = divergences.filter(({ first_frame_a }) => first_frame_a === first?.first_frame_a)
  return {
    recording: stampA.recording,
    recording_b: stampB.recording,
    compared_frames: compared.comparison.frames,
    frames_a: countFrames(a),
    frames_b: countFrames(b),
    bodies: matches.length,
    renamed_bodies: matches.filter(({ by }) => by !== 'id'),
    only_a,
    only_b,
    parameters: listChangedParameters(a, b, compared),
    first_frame: first?.first_frame_a ?? null,
    first_frame_b: first?.first_frame_b ?? null,
    differs: firstDivergences.map(toDifference),
    ...(first === undefined
      ? {}
      : {
          frame_a: toSolverState(await a.frame(first.first_frame_a)),
          frame_b: toSolverState(await b.frame(first.first_frame_b)),
        }),
    ...(firstOnly ? {} : { divergences }),
    summary: summarizeDivergences(compared.comparison.frames, firstDivergences, {
      isExact: args.exact ?? false,
      position: firstOnly ? undefined : divergences.find(({ field }) => field === 'position'),
      names: await readNames(a, b, { first, compared, ctx }),
    }),
  }
}

const countFrames = ({ summary: { frames } }: Recording): number => frames?.total_frames ?? 0

function listChangedParameters(a: Recording, b: Recording, { matching }: ComparedRecordings) {
  return matching.matches.flatMap((match) => {
    const bodyA = a.summary.bodies.find(({ body_id }) => body_id === match.a)
    const bodyB = b.summary.bodies.find(({ body_id }) => body_id === match.b)
    return (['mass', 'restitution', 'friction'] as const)
      .map((parameter) => ({
        body_id: match.a,
        parameter,
        a: bodyA?.[parameter] ?? null,
        b: bodyB?.[parameter] ?? null,
      }))
      .filter((changed) => changed.a !== changed.b)
  })
}

const toDifference = ({ field, unit, body_id, value_a, value_b, difference }: Divergence) => ({
  field,
  body_id,
  value_a,
  value_b,
  difference,
  unit,
})

const toSolverState = ({ frame_id, solver, collisions }: Frame) => ({
  frame_id,
  solver,
  pairs: collisions.map(({ body_a_id, body_b_id, penetration_depth }) => [
    body_a_id,
    body_b_id,
    penetration_depth,
  ]),
})

interface DivergenceContext {
  readonly isExact: boolean
  readonly position: Divergence | undefined
  readonly names: BodyNames
}

interface NamesContext {
  readonly first: Divergence | undefined
  readonly compared: ComparedRecordings
  readonly ctx: ReplayContext
}

/** Returns names from both recordings, by the ids of b. */
async function readNames(
  a: Recording,
  b: Recording,
  { first, compared: { matching, environment }, ctx }: NamesContext,
): Promise<BodyNames> {
  const idByB = new Map([...matching.matches, ...environment].map((match) => [match.b, match.a]))
  const [pairedIdsA = [], pairedIdsB = []] = [first?.value_a, first?.value_b].map((value) =>
    typeof value === 'string' ? splitPairs(value).flatMap(parsePair) : [],
  )
  const idsA = [
    ...pairedIdsA.map((id) => idByB.get(id) ?? id),
    ...pairedIdsB.flatMap((id) => idByB.get(id) ?? []),
  ]
  const idsB = [...pairedIdsB, ...pairedIdsA.filter((id) => idByB.has(id))]
  const namesA = await readBodyNames(a, idsA, ctx)
  const renumberedNames = [...idByB].flatMap(([id, idA]) =>
    namesA[idA] === undefined ? [] : [[id, namesA[idA]]],
  )
  return { ...namesA, ...Object.fromEntries(renumberedNames), ...(await readBodyNames(b, idsB, ctx)) }
}

const splitPairs = (value: string): readonly string[] => value.split(' ').filter((pair) => pair !== '')

const parsePair = (pair: string): readonly BodyId[] => pair.split('-').map(Number)

/** Describes the pairs that `otherValue` lacks. */
function describePairs(value: string, otherValue: string, names: BodyNames): string {
  const remainingCounts = new Map<string, number>()
  for (const pair of splitPairs(otherValue)) remainingCounts.set(pair, (remainingCounts.get(pair) ?? 0) + 1)
  // The same pair can occur several times.
  const missingPairs = splitPairs(value).filter((pair) => {
    const count = remainingCounts.get(pair) ?? 0
    remainingCounts.set(pair, count - 1)
    return count <= 0
  })
  const moreText = missingPairs.length > maxPairs ? ` and ${missingPairs.length - maxPairs} more` : ''
  const pairs = missingPairs.slice(0, maxPairs).map((pair) => nameBodies(parsePair(pair), names))
  return missingPairs.length === 0 ? 'none' : `${pairs.join('; ')}${moreText}`
}

function summarizeDivergences(
  frames: number,
  firstDivergences: readonly Divergence[],
  { isExact, position, names }: DivergenceContext,
): string {
  const [first] = firstDivergences
  if (first === undefined)
    return `No difference in ${formatCount(frames, 'frame')}${isExact ? ', bit by bit' : ' beyond the tolerance'}.`
  const { field, unit, body_id, value_a, value_b, difference } = first
  const values =
    typeof value_a === 'number' && typeof value_b === 'number'
      ? `${formatNumber(value_a)} against ${formatQuantity(value_b, unit)}, a difference of ${formatNumber(difference)}`
      : `only in a: ${describePairs(`${value_a}`, `${value_b}`, names)}, only in b: ${describePairs(`${value_b}`, `${value_a}`, names)}`
  const fields = firstDivergences.slice(1).map((divergence) => divergence.field)
  const sentences = [
    `First difference in frame ${first.first_frame_a}: ${field}${body_id === null ? '' : ` of ${nameBodies([body_id], names)}`}, ${values}${fields.length === 0 ? '' : `; also ${fields.join(', ')}`}.`,
  ]
  if (position !== undefined)
    sentences.push(
      `Positions differ by up to ${formatQuantity(position.greatest, 'm')} in frame ${position.greatest_frame_a}.`,
    )
  return sentences.join(' ')
}
