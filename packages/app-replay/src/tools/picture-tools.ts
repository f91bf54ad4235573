import { lineChart } from '@causeway/picture'
import { CausewayError } from '@causeway/protocol'
import type { FrameRange } from '@causeway/recording'
import { z } from 'zod'
import { createEnvironmentTest } from '../domain/bodies/body.ts'
import { drawFrame } from '../domain/drawing/frame-drawing.ts'
import type { SceneGeometry } from '../domain/drawing/shape.ts'
import { viewNames } from '../domain/drawing/view.ts'
import { formatCount, formatNumber, formatQuantity } from '../domain/sentence.ts'
import { buildSeriesChart, maxChartPoints } from '../domain/series/series-chart.ts'
import { diagnose } from '../session/diagnose.ts'
import { getForceScale } from '../session/frames.ts'
import { parseSeriesNames, readSampledSeries } from '../session/series.ts'
import { openRecording } from '../session/session.ts'
import {
  frameArgument,
  type RecordingCall,
  type Registration,
  recordingTool,
  runArguments,
} from './recording-tool.ts'

const maxShadedFindings = 4

export const pictureTools: readonly Registration[] = [
  recordingTool('plot', {
    title: 'Plot series',
    about:
      'Draw quantities over frames as a chart (PNG, SVG link) and return totals. Use it to show how values evolve.',
    searchHint: 'graph, picture, curve over time',
    input: {
      series: z.array(z.string()).describe('As in get_series'),
      start_frame: runArguments.start_frame,
      end_frame: runArguments.end_frame,
      mark_frame: z.int().optional().describe('Marked frame'),
      shade_findings: z.boolean().optional().describe('Shade findings'),
      overlay: z.string().optional().describe('Second run'),
    },
    example: { args: { recording: 'slide_at_45', series: ['energy.total', 'body.1.speed'], mark_frame: 45 } },
    async run({ series, mark_frame, shade_findings, overlay, ...bounds }, call) {
      const { recording, stamp, ctx } = call
      const plans = parseSeriesNames(series, recording)
      const range = call.range(bounds)
      const frame = mark_frame === undefined ? null : (await recording.frame(mark_frame)).frame_id
      const args = { plans, range, points: maxChartPoints, citedFrame: frame }
      const { series: recordingSeries } = await readSampledSeries(recording, args, ctx)
      const sampledSeries =
        overlay === undefined
          ? recordingSeries
          : await addOverlay(recordingSeries, { series, overlay, range }, call)
      const shaded = shade_findings ? await listShadedRuns(range, call) : []
      const title = `${series.join(', ')} of ${recording.identity.name}`
      const chart = buildSeriesChart(sampledSeries, { title, marks: { frame, runs: shaded } })
      const { pictures } = ctx.store
      const picture = await pictures.renderer.chart(lineChart(chart), { signal: ctx.signal })
      const { uri, content } = pictures.add(stamp.recording, title, picture)
      call.attach(content)
      const descriptions = sampledSeries.map(
        ({ name, unit, min, max, max_frame }) =>
          `${name} ${formatNumber(min)} to ${formatQuantity(max, unit)} (maximum in frame ${max_frame})`,
      )
      return {
        series: sampledSeries.map(({ frames, values, quantity, cited, truncated, ...totals }) => totals),
        shaded,
        svg: uri,
        summary: `${descriptions.join('; ')}.`,
      }
    },
  }),

  recordingTool('render_frame', {
    title: 'Render frame',
    about: 'Draw a frame (PNG, SVG link): bodies, contact forces and velocities.',
    searchHint: 'picture, image, screenshot of scene',
    input: {
      frame_id: frameArgument,
      view: z.enum(viewNames).optional().describe('Default: front'),
      bodies: z.array(z.int()).optional().describe('Only these'),
    },
    needs: ['states'],
    example: { args: { recording: 'stack', frame_id: 60 } },
    async run({ frame_id, view = 'front', bodies }, { recording, stamp, ctx, attach }) {
      const { signal } = ctx
      const selectedBodies = bodies?.map((body) => recording.resolveBody(body)) ?? null
      const frame = await recording.frame(frame_id)
      const geometry = await recording.analyse<SceneGeometry>('geometry', { frame: frame_id }, { signal })
      const svg = drawFrame({
        frame,
        view,
        geometry,
        scale: await getForceScale(recording, frame),
        bodies: selectedBodies,
        isEnvironment: createEnvironmentTest(recording.summary),
      })
      const { pictures } = ctx.store
      const picture = await pictures.renderer.drawing(svg, { signal })
      const { uri, content } = pictures.add(stamp.recording, `frame ${frame_id}`, picture)
      attach(content)
      const drawnCount = selectedBodies?.length ?? frame.states.length
      return {
        frame_id,
        view,
        unsized_bodies: frame.states
          .filter(({ body_id }) => !geometry.shapes.has(body_id))
          .map(({ body_id }) => body_id),
        svg: uri,
        summary: `Frame ${frame_id} with ${formatCount(drawnCount, 'body', 'bodies')} and ${formatCount(frame.collisions.length, 'pair')} in contact. Contacts are drawn as they were before the step.`,
      }
    },
  }),

  (app) =>
    app.resource('replay://recordings/{recording}/plots/{plot_id}', {
      name: 'plot',
      about: 'A picture of plot or render_frame as SVG. Only the latest pictures are stored.',
      mimeType: 'image/svg+xml',
      async read({ recording = '', plot_id = '' }, { store }) {
        const text = store.pictures.findSvg(recording, plot_id)
        if (text !== undefined) return { text }
        throw new CausewayError('RESOURCE_NOT_FOUND', `no such picture of ${recording}: ${plot_id}`, {
          remedy: 'draw it again; only the latest pictures are stored',
          data: { recording, plot_id },
        })
      },
    }),
]

type SampledSeries = Awaited<ReturnType<typeof readSampledSeries>>['series']

/** Appends each recording's name to the names of its series. */
async function addOverlay(
  recordingSeries: SampledSeries,
  overlayRequest: {
    readonly series: readonly string[]
    readonly overlay: string
    readonly range: FrameRange
  },
  { recording, ctx }: RecordingCall,
): Promise<SampledSeries> {
  const { recording: overlayRecording } = await openRecording(ctx, overlayRequest.overlay)
  const plans = parseSeriesNames(overlayRequest.series, overlayRecording)
  const args = { plans, range: overlayRequest.range, points: maxChartPoints, citedFrame: null }
  const { series: overlaySeries } = await readSampledSeries(overlayRecording, args, ctx)
  const [first, other] = [recording, overlayRecording].map(({ identity }) => identity.name)
  const addLabel = (series: SampledSeries, name: string) =>
    series.map((item) => ({ ...item, name: `${item.name}, ${name}` }))
  return [
    ...addLabel(recordingSeries, first === other ? recording.identity.id : (first ?? '')),
    ...addLabel(overlaySeries, first === other ? overlayRecording.identity.id : (other ?? '')),
  ]
}

async function listShadedRuns(range: FrameRange, { recording, ctx }: RecordingCall) {
  const { findings } = await diagnose(recording, range, ctx)
  return findings
    .filter(({ severity, follows }) => severity !== 'info' && follows === null)
    .slice(0, maxShadedFindings)
    .map(({ kind, frames }) => ({ from: frames.first, to: frames.last, label: kind.replaceAll('_', ' ') }))
}
