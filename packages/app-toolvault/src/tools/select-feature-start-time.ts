import { formatTime, parseTime } from '@causeway/app-kit/time'
import { findTimeRange, setTimeState } from '@causeway/plot'
import { defineTool } from '../catalog/vault-tool.ts'
import { ToolVaultError } from '../errors.ts'
import {
  createFeaturesArgument,
  createTimeArgument,
  requireArgument,
  requireFeatures,
  selectedFeatures,
} from './arguments.ts'

export default defineTool({
  name: 'select_feature_start_time',
  category: 'selection',
  title: 'Go to start time of features',
  about:
    'Set the current time of the plot to the earliest time of features, and extend the time range if necessary. Returns a setTimeState command. Use it to start a replay of the selection.',
  searchHint: 'go to beginning of track',
  input: {
    features: createFeaturesArgument('Features with times'),
    current_time_state: createTimeArgument(),
  },
  inject: { features: selectedFeatures(), current_time_state: { from: 'time' } },
  run({ features, current_time_state }) {
    const starts = requireFeatures(features).flatMap((feature) => findTimeRange(feature)?.[0] ?? [])
    const state = requireArgument(current_time_state, 'current_time_state')
    if (starts.length === 0) throw new ToolVaultError('NO_TIME_DATA', 'none of the features has a time')
    const earliest = starts.reduce((first, time) => Math.min(first, time))
    const current = formatTime(earliest)
    return setTimeState({
      current,
      start: (parseTime(state.start) ?? earliest) > earliest ? current : state.start,
      end: (parseTime(state.end) ?? earliest) < earliest ? current : state.end,
    })
  },
})
