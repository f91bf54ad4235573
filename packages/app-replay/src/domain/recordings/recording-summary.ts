import type { Recording, RecordingSummary } from '@causeway/recording'
import { formatCount, formatQuantity } from '../sentence.ts'

const describeExtent = ({ bodies, frames }: RecordingSummary): string =>
  `${formatCount(bodies.length, 'body', 'bodies')}, ${formatCount(frames?.total_frames ?? 0, 'frame')}`

export function summarizeList({
  recordings,
  others,
  folders,
}: Record<'recordings' | 'others' | 'folders', number>): string {
  const otherText =
    others === 0
      ? ''
      : ` ${formatCount(others, 'other file is not a recording', 'other files are not recordings')} (see others).`
  return `Found ${formatCount(recordings, 'recording')} in ${formatCount(folders, 'folder')}.${otherText}`
}

/** If a session is shared, advises its clients to name the recording. */
export function summarizeLoad(
  { identity, summary }: Pick<Recording, 'identity' | 'summary'>,
  isShared: boolean,
): string {
  const { missing } = summary
  const missingText = missing.length === 0 ? '' : ` Not recorded in it: ${missing.join(', ')}.`
  const hint = isShared
    ? ` Other clients share this session: pass recording: "${identity.id}" with every call.`
    : ''
  return `Loaded recording ${identity.id} with ${describeExtent(summary)}.${describeEnd(summary)}${missingText}${hint}`
}

const describeEnd = ({ interrupted = false }: RecordingSummary): string =>
  interrupted ? ' Its recorder was interrupted: later frames may be missing.' : ''

export function summarizeMetadata(summary: RecordingSummary): string {
  const { environment_bodies, dt_s, dt_uniform, lambda_unit, ignored_rows, missing } = summary
  const sentences = [
    `Simulation with ${describeExtent(summary)} and ${formatCount(environment_bodies.length, 'environment body', 'environment bodies')}.${describeEnd(summary)}`,
    `Step ${formatQuantity(dt_s, 's')}${dt_uniform ? '' : ', not uniform'}; unit of lambdas ${lambda_unit}.`,
  ]
  if (missing.length > 0) sentences.push(`Not recorded: ${missing.join(', ')}.`)
  if (ignored_rows > 0)
    sentences.push(`${formatCount(ignored_rows, 'row')} without a frame ignored: the recorder was killed.`)
  return sentences.join(' ')
}
