/** What a recording must hold for a question to have an answer. */
import { CausewayError } from '@causeway/protocol'
import type { Capability, RecordingSummary } from '@causeway/recording'

/** False where a frame without contacts says nothing: the recording tells of none anywhere. */
export const knowsContacts = ({ capabilities }: Pick<RecordingSummary, 'capabilities'>): boolean =>
  capabilities.includes('collisions')

/** Throws `NOT_RECORDED` unless the recording holds one of these: an absent quantity is never answered as 0. */
export function requireAny(
  { capabilities, missing, era }: RecordingSummary,
  wanted: readonly Capability[],
): void {
  if (wanted.some((one) => capabilities.includes(one))) return
  throw new CausewayError('NOT_RECORDED', `this recording lacks ${wanted.join(' and ')}`, {
    data: { wanted, missing, era },
  })
}
