import { setImmediate as nextTurn } from 'node:timers/promises'
import { TrmError } from '../errors.ts'
import type { Critic } from './critic.ts'

export interface StepFileDiff {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified'
  /** Unified diff without file headers, or `null` if the file is binary or too large. */
  readonly diff: string | null
}

/** Maximum number of files with a diff, characters of a compared file, and milliseconds of one comparison. */
const [maxFiles, maxCharacters, maxDiffMs] = [50, 200_000, 8]
/** Maximum milliseconds for an added or removed file, which takes less work. */
const maxCopyMs = 500

/**
 * Compares the files before and after a step. `position` counts the session's steps from 0. Throws
 * `SNAPSHOT_NOT_FOUND`.
 */
export async function diffStep(
  critic: Critic,
  sid: string | undefined,
  position: number,
): Promise<readonly StepFileDiff[]> {
  const { id } = await critic.findSession(sid)
  const step = (await critic.store.listSteps(id))[position]
  if (step === undefined)
    throw new TrmError('SNAPSHOT_NOT_FOUND', `the session has no evaluation at position ${position}`)
  const landing = (await critic.store.listLandings(id)).find((row) => row.id === step.landing_id)
  if (landing === undefined || landing.after === null) return []
  const paths = (await critic.snapshots.entries(landing.after)).map(({ path }) => path).slice(0, maxFiles)
  const [before, after] = [
    await critic.snapshots.read(landing.before, paths),
    await critic.snapshots.read(landing.after, paths),
  ]
  const diffs: StepFileDiff[] = []
  // Loaded on first use, because few servers need it.
  const { createPatch, formatHunks } = await import('../domain/candidate/line-diff.ts')
  for (const path of paths) {
    const [oldContent, newContent] = [before.get(path), after.get(path)]
    if (oldContent === newContent) continue
    const change = oldContent === undefined ? 'added' : newContent === undefined ? 'removed' : 'modified'
    const texts = [oldContent ?? '', newContent ?? '']
    const [oldText = '', newText = ''] = texts.filter((text) => typeof text === 'string')
    const isComparable =
      texts.every((text) => typeof text === 'string') &&
      Math.max(oldText.length, newText.length) <= maxCharacters
    const timeout = change === 'modified' ? maxDiffMs : maxCopyMs
    const patch = isComparable ? createPatch(oldText, newText, { context: 3, timeout }) : undefined
    diffs.push({ path, change, diff: patch === undefined ? null : formatHunks(patch) })
    // Other requests can run between two comparisons.
    await nextTurn()
  }
  return diffs
}
