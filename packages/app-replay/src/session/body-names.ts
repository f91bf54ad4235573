import type { BodyId, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import { createEnvironmentTest } from '../domain/bodies/body.ts'
import { type BodyNames, listRecordedNames } from '../domain/bodies/body-names.ts'

export async function readBodyNames(
  recording: Recording,
  ids: readonly BodyId[],
  { signal }: CallOptions = {},
): Promise<BodyNames> {
  const recordedNames = listRecordedNames(recording.summary)
  const isEnvironment = createEnvironmentTest(recording.summary)
  const unnamed = new Set(ids.filter((id) => isEnvironment(id) && recordedNames[id] === undefined))
  if (unnamed.size === 0) return recordedNames
  const args = { range: { start: null, end: null }, ids: [...unnamed].sort((a, b) => a - b) }
  return recording.analyse<BodyNames>('bodyNames', args, { signal, isCached: true })
}
