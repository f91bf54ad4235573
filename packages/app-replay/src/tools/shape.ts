/**
 * Arguments and members of answers that several tools share. Answers are described coarsely, because a model pays for
 * every byte of a listing: the lists to rely on are named, rows are not described, and there is more (`next_cursor` where a list goes on).
 */
import { z } from 'zod'

/** Most rows of a list in an answer when the caller does not say, and at most. */
export const defaultPoints = 200
const mostPoints = 2000

/** Every tool about a recording takes it. */
export const recordingArgument = {
  recording: z.string().optional().describe('id or path'),
}

export const frameArgument = z.int().describe('frame id, from 1')

export const bodyArgument = z.int().min(0).describe('body id')

/** Bounds of a range of frames, both included; null, as the original tools take it, is an open bound. */
export const rangeArguments = {
  start_frame: z.number().nullish().describe('first frame'),
  end_frame: z.number().nullish().describe('last frame'),
}

/** The same for tools that the original did not have, with the place where their runs go on. */
export const runArguments = {
  start_frame: z.number().optional().describe('first'),
  end_frame: z.number().optional().describe('last'),
  cursor: z.string().optional().describe('next_cursor'),
}

/** Runs in an answer. */
export const runsShown = 50

/** How much of a list to answer, and where to go on. */
export const partArguments = {
  max_points: z.int().min(2).max(mostPoints).default(defaultPoints).describe('most rows'),
  cursor: z.string().optional().describe('next_cursor'),
}

/** Named parts, such as the x, y, z of a vector: parts are not described. */
export const vector = () => z.unknown().meta({ type: 'object' })

/** A list of rows, whose members are not described. */
export const rows = () => z.array(z.unknown())

/** What every answer promises. Those about a recording also name it, as `recording`. */
export const stamp = { summary: z.string() }

/** Only reads. */
export const hints = { readOnly: true }
