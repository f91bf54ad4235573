/** Pictures for chats: series as a chart, a frame as a drawing. */
import { type Registrar, withContent } from '@causeway/app-kit'
import { lineChart } from '@causeway/picture'
import { CausewayError } from '@causeway/protocol'
import type { FrameRange, Recording } from '@causeway/recording'
import { z } from 'zod'
import { diagnose } from '../diagnose.ts'
import { environmentTest } from '../domain/body.ts'
import { requireAny } from '../domain/capability.ts'
import { drawFrame } from '../domain/frame-drawing.ts'
import { frameRange } from '../domain/frame-range.ts'
import type { Looks } from '../domain/scene-view/shape.ts'
import { viewNames } from '../domain/scene-view/view.ts'
import { count, readable } from '../domain/sentence.ts'
import { chartPoints, seriesChart } from '../domain/series-chart.ts'
import { forceScale } from '../force-scale.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { plansOf, readShown, seriesArgument } from './series-tools.ts'
import { frameArgument, hints, recordingArgument, runArguments, stamp } from './shape.ts'

/** Findings that are shaded, the worst first. */
const shadedRuns = 4

/** Declares plot, render_frame and the resource of their SVG. */
export function pictureTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('plot', {
    about: 'Picture (PNG) of quantities over frames.',
    hints,
    input: {
      series: seriesArgument,
      start_frame: runArguments.start_frame,
      end_frame: runArguments.end_frame,
      mark_frame: z.int().optional().describe('frame to mark'),
      shade_findings: z.boolean().optional().describe('shade findings'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'slide_at_45', series: ['energy.total', 'body.1.speed'], mark_frame: 45 } },
    async run({ series, mark_frame, shade_findings, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const plans = plansOf(series, recording)
      const range = frameRange(bounds, recording.summary.frames)
      const frame = mark_frame === undefined ? null : (await recording.frame(mark_frame)).frame_id
      const args = { plans, range, points: chartPoints, cite: frame }
      const { series: found } = await readShown(recording, args, ctx)
      const marks = { frame, runs: shade_findings ? await foundRuns(recording, range, ctx) : [] }
      const heading = `${series.join(', ')} of ${recording.identity.name}`
      const chart = seriesChart(found, { title: heading, marks })
      const { pictures } = ctx.store
      const picture = await pictures.renderer.chart(lineChart(chart), { signal: ctx.signal })
      const { uri, content } = pictures.keep(stamp.recording, heading, picture)
      const each = found.map(({ frames, values, quantity, cited, truncated, ...exact }) => exact)
      const told = each.map(
        ({ name, unit, min, max, max_frame }) =>
          `${name} ${readable(min)} to ${readable(max)}${unit === '' ? '' : ` ${unit}`} (greatest in frame ${max_frame})`,
      )
      return withContent(
        { ...stamp, series: each, shaded: marks.runs, svg: uri, summary: `${told.join('; ')}.` },
        content,
      )
    },
  })

  app.tool('render_frame', {
    about: 'Drawing (PNG) of a frame: bodies, forces, velocities.',
    hints,
    input: {
      frame_id: frameArgument,
      view: z.enum(viewNames).optional().describe('default front'),
      bodies: z.array(z.int()).optional().describe('only these'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'stack', frame_id: 60 } },
    async run({ frame_id, view = 'front', bodies, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      requireAny(recording.summary, ['states'])
      const chosen = bodies?.map((body) => recording.resolveBody(body)) ?? null
      const frame = await recording.frame(frame_id)
      const looks = await recording.analyse<Looks>('looks', { frame: frame_id }, { signal: ctx.signal })
      const svg = drawFrame({
        frame,
        view,
        looks,
        scale: await forceScale(recording, frame),
        bodies: chosen,
        isEnvironment: environmentTest(recording.summary),
      })
      const { pictures } = ctx.store
      const picture = await pictures.renderer.drawing(svg, { signal: ctx.signal })
      const { uri, content } = pictures.keep(stamp.recording, `frame ${frame_id}`, picture)
      const drawn = chosen?.length ?? frame.states.length
      const unsized = frame.states
        .filter(({ body_id }) => !looks.shapes.has(body_id))
        .map(({ body_id }) => body_id)
      return withContent(
        {
          ...stamp,
          frame_id,
          view,
          unsized_bodies: unsized,
          svg: uri,
          summary: `Frame ${frame_id} with ${count(drawn, 'body', 'bodies')} and ${count(frame.collisions.length, 'pair')} in contact; contacts are those before the step.`,
        },
        content,
      )
    },
  })

  app.resource('replay://recordings/{recording}/plots/{plot_id}', {
    name: 'plot',
    about: 'A picture that plot or render_frame made, as SVG; the latest ones are kept.',
    mimeType: 'image/svg+xml',
    async read({ recording = '', plot_id = '' }, { store }) {
      const text = store.pictures.svg(recording, plot_id)
      if (text !== undefined) return { text }
      throw new CausewayError('RESOURCE_NOT_FOUND', `no such picture of ${recording}: ${plot_id}`, {
        remedy: 'draw it again; only the latest pictures are kept',
        data: { recording, plot_id },
      })
    },
  })
}

async function foundRuns(recording: Recording, range: FrameRange, ctx: ReplayContext) {
  const { findings } = await diagnose(recording, range, ctx)
  return findings
    .filter(({ severity, follows }) => severity !== 'info' && follows === null)
    .slice(0, shadedRuns)
    .map(({ kind, frames }) => ({ from: frames.first, to: frames.last, label: kind.replaceAll('_', ' ') }))
}
