import { diffArrays } from 'diff'

/** Changes beyond which the exact count is not worth its time. */
const mostChanges = 2000

/** How many lines a change removes and adds: [removed, added]. Where nearly all differs, the lines in between count. */
export function changedLines(before: string, after: string): readonly [number, number] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++
  let tail = 0
  const least = Math.min(old.length, now.length) - head
  while (tail < least && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const [cutOld, cutNow] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)]
  const parts = diffArrays(cutOld, cutNow, { maxEditLength: mostChanges })
  if (parts === undefined) return [cutOld.length, cutNow.length]
  const sum = (kind: 'removed' | 'added') =>
    parts.reduce((total, part) => total + (part[kind] ? part.value.length : 0), 0)
  return [sum('removed'), sum('added')]
}

/** Lines with their ends, so that a missing last end counts. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
