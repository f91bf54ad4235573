import { type Capability, RecordingError, type RecordingSummary } from '@causeway/recording'

/** Whether contacts were recorded. Frames without contact rows then have no contacts. */
export const hasContacts = ({ capabilities }: Pick<RecordingSummary, 'capabilities'>): boolean =>
  capabilities.includes('collisions')

/** Throws `NOT_RECORDED` unless the recording has at least one of `accepted`. */
export function requireCapability(
  { capabilities, missing, era }: RecordingSummary,
  accepted: readonly Capability[],
): void {
  if (accepted.some((capability) => capabilities.includes(capability))) return
  throw new RecordingError('NOT_RECORDED', `this recording lacks ${accepted.join(' and ')}`, {
    data: { wanted: accepted, missing, era },
  })
}
