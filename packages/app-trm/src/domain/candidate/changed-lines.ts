import { diffArrays } from 'diff'

/** Most changes of one file that are counted exactly. The time to count them grows with their square. */
const maxChanges = 2000

/** Counts the changed lines of the files of a candidate; the time for all of them together is limited. */
export class ChangedLineCounter {
  #budget = 4 * maxChanges ** 2

  /** Returns [removed, added]. If too much differs, all lines between the common beginning and end count. */
  count(before: string, after: string): readonly [number, number] {
    const [old, now] = [linesOf(before), linesOf(after)]
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
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
