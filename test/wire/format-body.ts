/** Columns of a line of JSON. */
const width = 130

/** Longer strings are shortened. */
const maxText = 500

/** Returns the lines of a body: JSON in its order, indented where it is long; other text as it is. */
export function formatBody(text: string): string[] {
  const value = parse(text)
  if (value === undefined) return shorten(text).split('\n')
  // The server writes JSON without spaces.
  const note = JSON.stringify(value) === text ? [] : ['(with spaces)']
  return [...note, ...formatJson(value, '').split('\n')]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function formatJson(value: unknown, indent: string): string {
  const flat = formatFlat(value)
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= width) return flat
  const inner = `${indent}  `
  const isArray = Array.isArray(value)
  const members = isArray
    ? value.map((one) => `${inner}${formatJson(one, inner)}`)
    : Object.entries(value).map(([key, one]) => `${inner}"${key}": ${formatJson(one, inner)}`)
  return `${isArray ? '[' : '{'}\n${members.join(',\n')}\n${indent}${isArray ? ']' : '}'}`
}

function formatFlat(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (Array.isArray(value)) return `[${value.map(formatFlat).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${formatFlat(one)}`)
  return `{ ${members.join(', ')} }`.replace(/^\{ {2}\}$/, '{}')
}

const shorten = (text: string): string =>
  text.length <= maxText ? text : `${text.slice(0, 60)}... (${text.length} characters)`
