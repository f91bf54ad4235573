import { setImmediate as nextTurn } from 'node:timers/promises'
import type { structuredPatch as StructuredPatch } from 'diff'
import { TrmError } from '../errors.ts'
import type { Critic } from './critic.ts'

/** The changes of one file in a step. */
export interface FileDiff {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified'
  /** Unified diff without file headers. `null` if the file is binary or too large to compare. */
  readonly diff: string | null
}

/** Maximum files with a diff, characters of a compared file, and milliseconds of one comparison. */
const [maxFiles, maxCharacters, maxMs] = [50, 200_000, 8]

/** Compares the files before and after a step; `position` counts the steps of the session from 0. Throws `SNAPSHOT_NOT_FOUND`. */
export async function diffStep(
  critic: Critic,
  sid: string | undefined,
  position: number,
): Promise<readonly FileDiff[]> {
  const { id } = await critic.findSession(sid)
  const step = (await critic.store.steps(id))[position]
  if (step === undefined)
    throw new TrmError('SNAPSHOT_NOT_FOUND', `the session has no evaluation at position ${position}`)
  const landing = (await critic.store.landings(id)).find((one) => one.id === step.landing_id)
  if (landing === undefined || landing.after === null) return []
  const paths = (await critic.snapshots.entries(landing.after)).map(({ path }) => path).slice(0, maxFiles)
  const [before, after] = [
    await critic.snapshots.read(landing.before, paths),
    await critic.snapshots.read(landing.after, paths),
  ]
  const diffs: FileDiff[] = []
  // Loaded with its first use, because few servers need it.
  const { structuredPatch } = await import('diff')
  for (const path of paths) {
    const [old, current] = [before.get(path), after.get(path)]
    if (old === current) continue
    const change = old === undefined ? 'added' : current === undefined ? 'removed' : 'modified'
    diffs.push({ path, change, diff: compare(structuredPatch, old ?? '', current ?? '') })
    // Other requests are served between two comparisons.
    await nextTurn()
  }
  return diffs
}

function compare(structuredPatch: typeof StructuredPatch, before: unknown, after: unknown): string | null {
  if (typeof before !== 'string' || typeof after !== 'string') return null
  if (before.length > maxCharacters || after.length > maxCharacters) return null
  const patch = structuredPatch('a', 'b', before, after, '', '', { context: 3, timeout: maxMs })
  if (patch === undefined) return null
  return patch.hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${formatRange(oldStart, oldLines)} +${formatRange(newStart, newLines)} @@`,
      ...lines,
    ])
    .join('\n')
}

/** An empty range is placed after the line before it. */
const formatRange = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`
