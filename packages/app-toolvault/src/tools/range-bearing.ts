import { formatTime } from '@causeway/app-kit/time'
import { showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import {
  type BearingRow,
  computeBearingSeries,
  listTimes,
  readTarget,
  type Target,
} from '../domain/geodesy/bearing-series.ts'
import { formatBearing, formatBowAngle, formatRangeIn } from '../domain/geodesy/format-figures.ts'
import { normalizeAngle } from '../domain/geodesy/geodesic.ts'
import type { RangeUnit } from '../domain/geodesy/range-bearing.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { ToolVaultError } from '../errors.ts'
import {
  createFeaturesArgument,
  createTimeArgument,
  injectSelectedFeatures,
  readTime,
  requireFeatures,
} from './arguments.ts'

export default defineTool({
  name: 'range_bearing',
  category: 'track-analysis',
  title: 'Measure range and bearing',
  about:
    'Measure range and bearing of the second feature (track or point) from the first, at a time or as a series. Returns them with relative bearing and angle on the bow. Use it for the geometry between two vessels or places; for their closest approach use cpa_tcpa.',
  searchHint: 'distance and direction between ships',
  input: {
    features: createFeaturesArgument('Two features'),
    at: z.string().optional().describe('ISO 8601. Default: the current time of the plot'),
    current_time_state: createTimeArgument(),
    step_s: z
      .number()
      .positive()
      .optional()
      .describe('Return a series over the common time, with this interval in seconds'),
    unit: z.enum(['m', 'km', 'nm', 'yd']).default('nm').describe('Unit of the range'),
    line: z.enum(['geodesic', 'rhumb']).default('geodesic').describe('Shortest line, or constant bearing'),
  },
  inject: { features: injectSelectedFeatures(2, 2), current_time_state: { from: 'time' } },
  run({ features, at, current_time_state, step_s, unit, line }) {
    const [a, b, ...otherFeatures] = requireFeatures(features)
    if (a === undefined || b === undefined || otherFeatures.length > 0)
      throw new ToolVaultError('FEATURES_NEEDED', `two features are required, ${features?.length} given`, {
        data: { argument: 'features', needed: 2, given: features?.length ?? 0 },
      })
    const targets = [readTarget(a), readTarget(b)] as const
    const current = current_time_state?.current
    const times = listTimes(targets, {
      at: at === undefined ? undefined : () => readTime('at', at),
      current: current === undefined ? undefined : () => readTime('at', current),
      step_s,
    })
    const rows = computeBearingSeries(targets, times, { line, unit })
    return showData({
      title: `Range and bearing: ${targets[1].name} from ${targets[0].name}`,
      summary: summarize(targets, rows, { line, unit }),
      line,
      unit,
      from: targets[0].name,
      to: targets[1].name,
      ...rows[0],
      range: roundTo(rows[0]?.range ?? null, 6),
      ...(rows.length === 1
        ? {}
        : createTable(
            rows,
            { name: 'time', key: ({ time }) => (time === null ? '' : formatTime(time)) },
            {
              range: ({ range }) => roundTo(range, 4),
              bearing_deg: ({ bearing_deg }) => roundTo(bearing_deg, 3),
              reciprocal_deg: ({ reciprocal_deg }) => roundTo(reciprocal_deg, 3),
              relative_bearing_deg: ({ relative_bearing_deg }) => roundTo(relative_bearing_deg, 2),
              atb_deg: ({ atb_deg }) => roundTo(atb_deg, 2),
            },
          )),
      time: rows[0]?.time == null ? null : formatTime(rows[0].time),
    })
  },
})

function summarize(
  [a, b]: readonly [Target, Target],
  rows: readonly BearingRow[],
  { line, unit }: { readonly line: string; readonly unit: RangeUnit },
): string {
  const [first] = rows
  if (first === undefined) return ''
  const timeText = first.time === null ? '' : ` at ${formatTime(first.time)}`
  const relativeText =
    first.relative_bearing_deg === null
      ? ''
      : `, relative bearing ${formatBowAngle(normalizeAngle(first.relative_bearing_deg))}`
  const bowAngleText =
    first.atb_deg === null ? '' : `, angle on the bow of ${b.name} ${formatBowAngle(first.atb_deg)}`
  const seriesText = rows.length === 1 ? '' : ` The series has ${rows.length} times.`
  const bearingText =
    first.bearing_deg === null
      ? `has no bearing from ${a.name} (${first.bearing_problem})`
      : `bears ${formatBearing(first.bearing_deg)} from ${a.name}`
  return `${b.name} ${bearingText}, range ${formatRangeIn(first.range, unit)} (${line})${timeText}${relativeText}${bowAngleText}.${seriesText}`
}
