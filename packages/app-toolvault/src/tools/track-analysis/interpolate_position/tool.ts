import { parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { featuresArgument, needed, selectedTracks, timeArgument, timedTracks } from '../../../arguments.ts'
import { positionAnswer, positionsAt } from '../../../domain/position-answer.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** interpolate_position: outside its span a track is nowhere. */
export default vaultTool({
  name: 'interpolate_position',
  category: 'track-analysis',
  about: 'Where tracks are at a time: place (geodesic between fixes), course and speed.',
  input: {
    tracks: featuresArgument('tracks'),
    at: z.string().optional().describe('ISO 8601; default: current time of the plot'),
    current_time_state: timeArgument(),
    add_points: z.boolean().default(false).describe('also add the places as reference points'),
  },
  inject: { tracks: selectedTracks(), current_time_state: { from: 'time' } },
  samples,
  run({ tracks, at, current_time_state, add_points }, { newId }) {
    const text = needed(at ?? current_time_state?.current, 'at')
    const time = parseTime(text)
    if (time === undefined)
      throw new CausewayError('INVALID_ARGUMENTS', `at is no time: ${text}`, {
        data: { problems: [{ argument: 'at', problem: 'is no ISO 8601 time' }] },
      })
    return positionAnswer(positionsAt(timedTracks(tracks), time), { time, add_points, newId })
  },
})
