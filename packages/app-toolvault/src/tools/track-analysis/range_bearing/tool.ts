import { formatTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { anySelected, features, featuresArgument, timeArgument } from '../../../arguments.ts'
import { bearingSeries, bearingSummary, sightable, timesAsked } from '../../../domain/bearing-series.ts'
import { showData } from '../../../domain/command.ts'
import { rounded, table } from '../../../domain/table.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** range_bearing: of the second feature from the first, at a time or as a series. */
export default vaultTool({
  name: 'range_bearing',
  category: 'track-analysis',
  about:
    'Range and bearing of the second feature (track or point) from the first, with relative bearing and angle on the bow; at a time, or as a series.',
  input: {
    features: featuresArgument('two features'),
    at: z.string().optional().describe('time, ISO 8601; default: current time of the plot'),
    current_time_state: timeArgument(),
    step_s: z.number().positive().optional().describe('a series over the common time, every so many s'),
    unit: z.enum(['m', 'km', 'nm', 'yd']).default('nm').describe('of range'),
    line: z.enum(['geodesic', 'rhumb']).default('geodesic').describe('shortest line, or constant bearing'),
  },
  inject: { features: anySelected(2, 2), current_time_state: { from: 'time' } },
  samples,
  run({ features: given, at, current_time_state, step_s, unit, line }) {
    const [a, b, ...more] = features(given)
    if (a === undefined || b === undefined || more.length > 0)
      throw new CausewayError('FEATURES_NEEDED', `two features are needed, ${given?.length} given`, {
        data: { argument: 'features', needed: 2, given: given?.length ?? 0 },
      })
    const pair = [sightable(a), sightable(b)] as const
    const times = timesAsked(pair, { at, current: current_time_state?.current, step_s })
    const rows = bearingSeries(pair, times, { line, unit })
    return showData({
      title: `Range and bearing: ${pair[1].name} from ${pair[0].name}`,
      summary: bearingSummary(pair, rows, { line, unit }),
      line,
      unit,
      from: pair[0].name,
      to: pair[1].name,
      ...rows[0],
      range: rounded(rows[0]?.range ?? null, 6),
      ...(rows.length === 1
        ? {}
        : table(
            rows,
            { name: 'time', key: ({ time }) => (time === null ? '' : formatTime(time)) },
            {
              range: ({ range }) => rounded(range, 4),
              bearing_deg: ({ bearing_deg }) => rounded(bearing_deg, 3),
              reciprocal_deg: ({ reciprocal_deg }) => rounded(reciprocal_deg, 3),
              relative_bearing_deg: ({ relative_bearing_deg }) => rounded(relative_bearing_deg, 2),
              atb_deg: ({ atb_deg }) => rounded(atb_deg, 2),
            },
          )),
      time: rows[0]?.time == null ? null : formatTime(rows[0].time),
    })
  },
})
