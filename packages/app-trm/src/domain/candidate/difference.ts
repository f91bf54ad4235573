/** What has changed in a text, small enough to be told. */
import { structuredPatch } from 'diff'

/** Most characters that are told, and most lines on which two texts may differ to be compared at all. */
const [mostText, mostEdits] = [3500, 4000]

/**
 * The hunks of a unified diff with one line of context, cut where they are many; empty for equal texts. Texts that have
 * little in common are not compared: then only that is said.
 */
export function difference(path: string, before: string, after: string): string {
  const options = { context: 1, maxEditLength: mostEdits }
  const patch = structuredPatch(path, path, before, after, undefined, undefined, options)
  if (patch === undefined) return '(most of it has changed)'
  const hunks = patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
  )
  const text = hunks.join('\n')
  return text.length <= mostText ? text : `${text.slice(0, mostText)}\n… (${hunks.length} hunks in all)`
}
