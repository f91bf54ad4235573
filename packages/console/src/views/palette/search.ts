export interface Entry {
  readonly group: string
  readonly title: string
  /** Distinguishes entries with the same title. May be empty. */
  readonly detail: string
  readonly url: string
}

export interface EntryGroup {
  readonly name: string
  readonly entries: readonly Entry[]
}

const maxPerGroup = 12
const maxResults = 30
/** Maximum number of searched characters of a title or detail. */
const maxSearchedLength = 300

/**
 * Returns the entries that contain every word of the query, in groups ordered by their best entry. For an empty
 * query, returns the first group.
 */
export function searchEntries(entries: readonly Entry[], query: string): EntryGroup[] {
  const normalizedQuery = query.trim().toLowerCase()
  if (normalizedQuery === '') return toGroups(entries.filter(({ group }) => group === entries[0]?.group))
  const words = normalizedQuery.split(/\s+/)
  const groupOrder = [...new Set(entries.map(({ group }) => group))]
  return toGroups(
    entries
      .map((entry) => ({ entry, score: scoreEntry(entry, words, normalizedQuery) }))
      .filter(({ score }) => score > 0)
      .sort(
        (a, b) =>
          b.score - a.score ||
          groupOrder.indexOf(a.entry.group) - groupOrder.indexOf(b.entry.group) ||
          a.entry.title.length - b.entry.title.length,
      )
      .map(({ entry }) => entry),
  )
}

function toGroups(entries: readonly Entry[]): EntryGroup[] {
  const groups = new Map<string, Entry[]>()
  let count = 0
  for (const entry of entries) {
    const group = groups.get(entry.group) ?? []
    if (group.length === maxPerGroup) continue
    groups.set(entry.group, group)
    group.push(entry)
    if (++count === maxResults) break
  }
  return [...groups].map(([name, groupEntries]) => ({ name, entries: groupEntries }))
}

/** Returns a score; 0 if a word is missing. */
function scoreEntry(entry: Entry, words: readonly string[], normalizedQuery: string): number {
  const title = entry.title.slice(0, maxSearchedLength).toLowerCase()
  const detail = entry.detail.slice(0, maxSearchedLength).toLowerCase()
  const parts = title.split(/[^\p{L}\p{N}]+/u)
  const scores = words.map((word) => {
    if (parts.includes(word)) return 4
    if (parts.some((part) => part.startsWith(word))) return 3
    if (title.includes(word)) return 2
    return detail.includes(word) ? 1 : 0
  })
  if (scores.includes(0)) return 0
  const bonus = title === normalizedQuery ? 4 : title.startsWith(normalizedQuery) ? 2 : 0
  return scores.reduce<number>((sum, score) => sum + score, bonus)
}

export interface FrameRange {
  readonly first: number
  readonly last: number
}

/** Returns the frame of a query such as `121` or `frame 121`; `undefined` if the recording does not contain it. */
export function findFrame(query: string, range: FrameRange | undefined): number | undefined {
  const [, id] = /^(?:frame\s*)?(\d{1,15})$/i.exec(query.trim()) ?? []
  const frame = Number(id)
  return range !== undefined && frame >= range.first && frame <= range.last ? frame : undefined
}
