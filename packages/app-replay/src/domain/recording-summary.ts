/** A recording in a sentence. */
import type { Recording, RecordingSummary } from '@causeway/recording'
import { count, quantity } from './sentence.ts'

const extent = ({ bodies, frames }: RecordingSummary): string =>
  `${count(bodies.length, 'body', 'bodies')}, ${count(frames?.total_frames ?? 0, 'frame')}`

/** How many files were found, and in how many folders. */
export function listSummary({
  recordings,
  others,
  folders,
}: Record<'recordings' | 'others' | 'folders', number>): string {
  const rest =
    others === 0 ? '' : ` ${count(others, 'other file is', 'other files are')} no recording: see others.`
  return `Found ${count(recordings, 'recording')} in ${count(folders, 'folder')}.${rest}`
}

/** What was loaded; callers without a session of their own are told to name the recording. */
export function loadSummary(
  { identity, summary }: Pick<Recording, 'identity' | 'summary'>,
  isShared: boolean,
): string {
  const { missing } = summary
  const lacks = missing.length === 0 ? '' : ` Not recorded in it: ${missing.join(', ')}.`
  const hint = isShared
    ? ` Other clients share this session: pass recording: "${identity.id}" with every call.`
    : ''
  return `Loaded recording ${identity.id} with ${extent(summary)}.${lacks}${hint}`
}

/** Everything that a reader should know before the first question. */
export function metadataSummary(summary: RecordingSummary): string {
  const { environment_bodies, dt_s, dt_uniform, lambda_unit, ignored_rows, missing } = summary
  const sentences = [
    `Simulation with ${extent(summary)} and ${count(environment_bodies.length, 'environment body', 'environment bodies')}.`,
    `Step ${quantity(dt_s, 's')}${dt_uniform ? '' : ', not uniform'}; unit of lambdas ${lambda_unit}.`,
  ]
  if (missing.length > 0) sentences.push(`Not recorded: ${missing.join(', ')}.`)
  if (ignored_rows > 0)
    sentences.push(`${count(ignored_rows, 'row')} without a frame ignored: the recorder was killed.`)
  return sentences.join(' ')
}
