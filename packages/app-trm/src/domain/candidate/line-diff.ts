import { diffArrays, structuredPatch } from 'diff'

/** Maximum changes of one file that are counted exactly. The time to count them grows with their square. */
const maxChanges = 2000

/** Counts the changed lines of the files of a candidate; the time for all of them together is limited. */
export class ChangedLineCounter {
  #budget = 4 * maxChanges ** 2

  /** Returns [removed, added]. If too much differs, all lines between the common beginning and end count. */
  count(before: string, after: string): readonly [removed: number, added: number] {
    const [old, now] = [splitLines(before), splitLines(after)]
    const shorter = Math.min(old.length, now.length)
    let head = 0
    while (head < shorter && old[head] === now[head]) head++
    let tail = 0
    while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
    const [cutOld, cutNow] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)]
    const maxEditLength = Math.min(maxChanges, Math.floor(Math.sqrt(this.#budget)))
    const parts = diffArrays(cutOld, cutNow, { maxEditLength })
    if (parts === undefined) {
      this.#budget -= maxEditLength ** 2
      return [cutOld.length, cutNow.length]
    }
    const sum = (kind: 'removed' | 'added') =>
      parts.reduce((total, part) => total + (part[kind] ? part.value.length : 0), 0)
    const [removed, added] = [sum('removed'), sum('added')]
    this.#budget -= (removed + added) ** 2
    return [removed, added]
  }
}

/** Lines with their ends, so that a missing last end counts. */
const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const maxCharacters = 3500

/** Returns the hunks of a unified diff with one line of context, cut to a few thousand characters; empty for equal texts. */
export function formatDiff(path: string, before: string, after: string): string {
  const options = { context: 1, maxEditLength: 4000 }
  const patch = structuredPatch(path, path, before, after, undefined, undefined, options)
  if (patch === undefined) return '(most of it has changed)'
  const hunks = patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
  )
  const text = hunks.join('\n')
  return text.length <= maxCharacters
    ? text
    : `${text.slice(0, maxCharacters)}\n… (${hunks.length} hunks in total)`
}
