/**
 * Arguments and members of answers that several tools share. Answers are described coarsely, because a model pays for
 * every byte of a listing: the members to rely on are named, and there may be more.
 */
import { z } from 'zod'

/** Most rows of a list in an answer when the caller does not say, and at most. */
export const defaultPoints = 200
const mostPoints = 2000

/** Every tool about a recording takes it. */
export const recordingArgument = {
  recording: z.string().min(1).optional().describe('recording id or path; default: the loaded one'),
}

export const frameArgument = z.int().describe('frame id as recorded, from 1')

export const bodyArgument = z.int().min(0).describe('body id; environment with or without bit 31')

/** Bounds of a range of frames, both included; null, as the original tools take it, is an open bound. */
export const rangeArguments = {
  start_frame: z.int().nullish().describe('first frame id'),
  end_frame: z.int().nullish().describe('last frame id'),
}

/** How much of a list to answer, and where to go on. */
export const partArguments = {
  max_points: z.int().min(2).max(mostPoints).default(defaultPoints).describe('most rows in the answer'),
  cursor: z.string().optional().describe('next_cursor of the answer before'),
}

/** A recorded number; null where NaN was recorded. Made anew for each member: a reference costs more than it saves. */
export const value = () => z.number().nullable()

/** x, y, z; null where NaN was recorded. */
export const vector = z.object({ x: value(), y: value(), z: value() }).partial()

/** A list of rows. Their members are named, none is promised: that would name each of them twice. */
export const rows = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape).partial())

/** Members that the original tools did not have: named, not promised. */
export const added = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).partial().shape

/** What every answer about a recording carries. */
export const stamp = {
  recording: z.string(),
  reloaded: z.boolean().optional(),
  summary: z.string(),
}

/** Members of an answer that shows part of a list. */
export const listed = () => added({ truncated: z.boolean(), next_cursor: z.string().nullable() })

/** Members of an answer that shows part of a series; `totals` are exact and cover all of it. */
export const series = () => ({
  ...listed(),
  ...added({
    start_frame: value(),
    end_frame: value(),
    bucketed: z.boolean(),
    totals: z.object({ count: z.int(), min: value(), max: value() }).partial(),
  }),
})

export const pair = () => ({ body_a_id: z.int(), body_b_id: z.int() })

/** Friction constraints as recorded: lambdas in `unit`. */
export const frictionRows = () =>
  rows({ ...pair(), normal_lambda: value(), tangent1_lambda: value(), tangent2_lambda: value() })

/** Colliding pairs, depths in m. */
export const collisionRows = () => rows({ ...pair(), penetration_depth: value(), normal: vector })

/** Only reads. */
export const hints = { readOnly: true }
