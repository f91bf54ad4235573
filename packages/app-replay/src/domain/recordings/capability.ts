import { type Capability, RecordingError, type RecordingSummary } from '@causeway/recording'

/** Whether contacts were recorded. Frames without contact rows then have no contacts. */
export const hasContacts = ({ capabilities }: Pick<RecordingSummary, 'capabilities'>): boolean =>
  capabilities.includes('collisions')

/** Throws `NOT_RECORDED` unless the recording has at least one of `wanted`. */
export function requireCapability(
  { capabilities, missing, era }: RecordingSummary,
  wanted: readonly Capability[],
): void {
  if (wanted.some((one) => capabilities.includes(one))) return
  throw new RecordingError('NOT_RECORDED', `this recording lacks ${wanted.join(' and ')}`, {
    data: { wanted, missing, era },
  })
}
