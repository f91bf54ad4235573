import { formatTime, parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { anySelected, features, featuresArgument, needed, timeArgument } from '../../../arguments.ts'
import { setTimeState } from '../../../domain/command.ts'
import { startOf } from '../../../domain/feature-time.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** select_feature_start_time: the range grows where the new time lies outside it, so that the state stays in order. */
export default vaultTool({
  name: 'select_feature_start_time',
  category: 'selection',
  about: 'Set the current time of the plot to the earliest time of the features.',
  input: { features: featuresArgument('features with times'), current_time_state: timeArgument() },
  inject: { features: anySelected(), current_time_state: { from: 'time' } },
  samples,
  run({ features: given, current_time_state }) {
    const earliest = startOf(features(given))
    const state = needed(current_time_state, 'current_time_state')
    if (earliest === undefined) throw new CausewayError('NO_TIME_DATA', 'none of the features has a time')
    const current = formatTime(earliest)
    return setTimeState({
      current,
      start: (parseTime(state.start) ?? earliest) > earliest ? current : state.start,
      end: (parseTime(state.end) ?? earliest) < earliest ? current : state.end,
    })
  },
})
