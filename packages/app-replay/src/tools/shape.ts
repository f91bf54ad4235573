/** Arguments and members of answers that several tools share. */
import { z } from 'zod'

/** Most rows of a list in an answer when the caller does not say, and at most. */
export const defaultPoints = 200
const mostPoints = 2000

/** Every tool about a recording takes it. */
export const recordingArgument = {
  recording: z
    .string()
    .min(1)
    .optional()
    .describe('id or path of a recording; default: the one loaded by load_recording'),
}

export const frameArgument = z.int().describe('frame id as recorded, from 1')

export const bodyArgument = z.int().min(0).describe('body id; an environment body with or without its bit 31')

/** Bounds of a range of frames. */
export const rangeArguments = {
  start_frame: z.int().optional().describe('first frame id, included; default: first'),
  end_frame: z.int().optional().describe('last frame id, included; default: last'),
}

/** How much of a list to answer, and where to go on. */
export const partArguments = {
  max_points: z.int().min(2).max(mostPoints).default(defaultPoints).describe('most rows in the answer'),
  cursor: z.string().optional().describe('next_cursor of the answer before: rows one by one from there'),
}

/** A recorded number; null where NaN was recorded. */
export const value = z.number().nullable()

export const vector = z.object({ x: value, y: value, z: value })

/** What every answer about a recording carries. */
export const stamp = {
  recording: z.string(),
  reloaded: z.boolean().optional(),
  summary: z.string(),
}

/** Members of an answer that shows part of a list. */
export const listed = { truncated: z.boolean(), next_cursor: z.string().nullable() }

/** Members of an answer that shows part of a series. */
export const series = {
  ...listed,
  start_frame: z.int().nullable(),
  end_frame: z.int().nullable(),
  bucketed: z.boolean(),
  totals: z.object({
    count: z.int(),
    min: value,
    min_frame: value,
    max: value,
    max_frame: value,
    first: value,
    last: value,
    mean: value,
    drift: value,
  }),
}

export const pair = { body_a_id: z.int(), body_b_id: z.int() }

/** Friction constraints as recorded: lambdas in `unit`. */
export const frictionRows = z.array(
  z.object({
    ...pair,
    normal: vector,
    friction_coefficient: value,
    normal_lambda: value,
    tangent1_lambda: value,
    tangent2_lambda: value,
  }),
)

/** Colliding pairs, depths in m. */
export const collisionRows = z.array(z.object({ ...pair, normal: vector, penetration_depth: value }))

/** Only reads. */
export const hints = { readOnly: true }
