import { type Registrar, type Shape, type ToolDeclaration, withContent } from '@causeway/app-kit'
import type { Content } from '@causeway/protocol'
import type { Capability, FrameRange } from '@causeway/recording'
import { z } from 'zod'
import { type Bounds, resolveFrameRange } from '../domain/frames/frame-range.ts'
import { requireCapability } from '../domain/recordings/capability.ts'
import {
  type OpenedRecording,
  openRecording,
  type ReplayContext,
  type ReplaySession,
} from '../session/session.ts'
import type { ReplayStore } from '../store/store.ts'

export type ReplayRegistrar = Registrar<ReplayStore, ReplaySession>

export type Registration = (app: ReplayRegistrar) => void

export interface RecordingCall extends OpenedRecording {
  readonly ctx: ReplayContext
  range(bounds: Bounds): FrameRange
  attach(content: readonly Content[]): void
}

interface RecordingTool<Input extends Shape, Output extends Shape>
  extends Omit<ToolDeclaration<Input, Output, ReplayStore, ReplaySession>, 'run' | 'title'> {
  readonly title: string
  /** The recording must contain at least one of these. */
  readonly needs?: readonly Capability[]
  readonly maxCopyBytes?: number
  run(args: z.output<z.ZodObject<Input>>, call: RecordingCall): Answer<Output> | Promise<Answer<Output>>
}

type Answer<Output extends Shape> = { readonly [Name in keyof Output]: unknown } & {
  readonly summary: string
}

/**
 * Declares a tool with the argument `recording`, read-only by default. Its answers contain the recording's id and a
 * `summary`, which the output schema omits.
 */
export function recordingTool<Input extends Shape, Output extends Shape = Record<never, never>>(
  name: string,
  { needs, maxCopyBytes, run, ...declaration }: RecordingTool<Input, Output>,
): Registration {
  return (app) =>
    app.tool<Shape, Shape>(name, {
      hints: readOnly,
      ...declaration,
      input: { ...declaration.input, recording: recordingArgument },
      async run({ recording: idOrPath, ...args }, ctx) {
        const options = maxCopyBytes === undefined ? {} : { maxCopyBytes }
        const opened = await openRecording(ctx, idOrPath as string | undefined, options)
        const { summary } = opened.recording
        if (needs !== undefined) requireCapability(summary, needs)
        const content: Content[] = []
        const call: RecordingCall = {
          ...opened,
          ctx,
          range: (bounds) => resolveFrameRange(bounds, summary.frames),
          attach: (more) => content.push(...more),
        }
        // The arguments were validated against `input` without `recording`.
        const answer = { ...opened.stamp, ...(await run(args as z.output<z.ZodObject<Input>>, call)) }
        return content.length === 0 ? answer : withContent(answer, content)
      },
    })
}

export const readOnly = { readOnly: true }

export const defaultPoints = 200
export const maxPoints = 2000

export const maxRunsShown = 50

const recordingArgument = z.string().optional().describe('Id or path')

export const frameArgument = z.int().describe('Frame id')

export const bodyArgument = z.int().describe('Body id')

const cursorArgument = z.string().optional().describe('From next_cursor')

/** Bounds are inclusive. `null`, which the seed's tools accept, means an open bound. */
export const rangeArguments = {
  start_frame: z.number().nullish().describe('First frame'),
  end_frame: z.number().nullish().describe('Last frame'),
}

export const runArguments = {
  start_frame: z.number().optional().describe('First frame'),
  end_frame: z.number().optional().describe('Last frame'),
  cursor: cursorArgument,
}

const clampPoints = (points: number): number => Math.min(Math.max(points, 2), maxPoints)

export const pageArguments = {
  /** The schema omits the limits, because they would add 40 bytes to each of nine tools. */
  max_points: z.int().overwrite(clampPoints).default(defaultPoints).describe('Maximum rows'),
  cursor: cursorArgument,
}

export const vector = () => z.unknown().meta({ type: 'object' })

export const rows = () => z.unknown().meta({ type: 'array' })
