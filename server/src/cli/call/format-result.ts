import { isObject } from '@causeway/protocol'

/** Formats the text of a result. JSON becomes indented `name: value` lines with its summary first; other text stays. */
export function formatText(text: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (!isObject(value)) return text
  const { summary, ...rest } = value
  const lines = formatFields(rest)
  if (typeof summary !== 'string') return lines.join('\n')
  return [summary, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')
}

const formatFields = (fields: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => formatField(name, value))

function formatField(name: string, value: unknown): readonly string[] {
  if (isFlat(value)) return [`${name}: ${formatFlat(value)}`]
  if (Array.isArray(value)) return [`${name}:`, ...value.flatMap(formatItem)]
  return [`${name}:`, ...formatFields(value as Record<string, unknown>).map((line) => `  ${line}`)]
}

function formatItem(item: unknown): readonly string[] {
  if (isFlat(item) || Array.isArray(item)) return [`  - ${formatFlat(item)}`]
  const lines = formatFields(item as Record<string, unknown>)
  return lines.map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`)
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object'

/** Whether a text in a list can be copied from one line. A call such as `get_frame {"frame_id":1}` would be escaped there. */
const isPlain = (value: unknown): boolean => !/["\\\n]/.test(String(value))

/** Whether a value fits on one line: a scalar, or a list of scalars. */
const isFlat = (value: unknown): boolean =>
  isScalar(value) ||
  (Array.isArray(value) && value.every((item) => isScalar(item) && isPlain(item))) ||
  (isObject(value) && Object.keys(value).length === 0)

function formatFlat(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : JSON.stringify(value).replaceAll(',', ', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
