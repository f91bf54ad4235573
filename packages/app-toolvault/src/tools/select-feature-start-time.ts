import { formatTime, parseTime } from '@causeway/app-kit/time'
import { findTimeRange, setTimeState } from '@causeway/plot'
import { defineTool } from '../catalog/vault-tool.ts'
import { ToolVaultError } from '../errors.ts'
import {
  createFeaturesArgument,
  createTimeArgument,
  injectSelectedFeatures,
  requireArgument,
  requireFeatures,
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
  inject: { features: injectSelectedFeatures(), current_time_state: { from: 'time' } },
  run({ features, current_time_state }) {
    const startTimes = requireFeatures(features).flatMap((feature) => findTimeRange(feature)?.[0] ?? [])
    const timeState = requireArgument(current_time_state, 'current_time_state')
    if (startTimes.length === 0) throw new ToolVaultError('NO_TIME_DATA', 'none of the features has a time')
    const earliestTime = startTimes.reduce((minTime, time) => Math.min(minTime, time))
    const current = formatTime(earliestTime)
    return setTimeState({
      current,
      start: (parseTime(timeState.start) ?? earliestTime) > earliestTime ? current : timeState.start,
      end: (parseTime(timeState.end) ?? earliestTime) < earliestTime ? current : timeState.end,
    })
  },
})
