/** Replaces what differs from run to run, or with the text of a tool, by placeholders, numbered by their first occurrence in a text. */

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** Values that get a number, so that a reader can follow them: `<id-1>` is the same id everywhere in a text. */
const numbered: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['id', new RegExp(uuid, 'g')],
  ['state', /(?<="requestState": ?")[^"]+/g],
  ['port', /(?<=(?:127\.0\.0\.1|localhost|\[::1\]):)\d+|(?<="port": ?)\d+/g],
  // The registry's hash of all tools has 16 characters.
  ['hash', /\b[0-9a-f]{32}(?:[0-9a-f]{32})?\b|(?<="hash": ?")[\w-]{16}(?=")/g],
]

const replaced: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '<time>'],
  // Figures of `/health`.
  [/(?<="(?:pid|uptime_s|waiting|free_bytes|used_bytes|heap_bytes|bytes)": ?)[\d.]+/g, '<number>'],
  [/(?<="(?:limit_bytes|heap_limit_bytes)": ?)\d{9,}/g, '<number>'],
]

/** `folders` are absolute paths with the names that stand for them. */
export function normalize(text: string, folders: Readonly<Record<string, string>>): string {
  let result = text
  for (const [folder, name] of Object.entries(folders)) result = result.replaceAll(folder, name)
  for (const [pattern, name] of replaced) result = result.replace(pattern, name)
  for (const [name, pattern] of numbered) {
    const known = new Map<string, string>()
    result = result.replace(pattern, (value) => {
      const placeholder = known.get(value) ?? `<${name}-${known.size + 1}>`
      known.set(value, placeholder)
      return placeholder
    })
  }
  return result
}
