import { DebriefError } from '../../errors.ts'

const suffix = '.plot.json'

const reservedPattern = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected
const forbiddenPattern = /[\u0000-\u001f\u007f<>:"/\\|?*]/

/** Returns the name in NFC. Throws `INVALID_FILENAME`. */
export function parsePlotName(filename: string): string {
  const name = filename.normalize('NFC')
  const problem = findProblem(name)
  if (problem === null) return name
  throw new DebriefError('INVALID_FILENAME', `invalid filename, ${problem}: ${name.slice(0, 255)}`, {
    data: { filename: name.slice(0, 255) },
  })
}

export const isPlotName = (name: string): boolean => findProblem(name.normalize('NFC')) === null

export const getTitle = (filename: string): string => filename.slice(0, -suffix.length)

function findProblem(name: string): string | null {
  if (!name.endsWith(suffix)) return `it must end with ${suffix}`
  if (name === suffix) return 'it has only a suffix'
  if (forbiddenPattern.test(name)) return 'it has an invalid character'
  if (name.startsWith('.')) return 'it starts with a dot'
  if (name.startsWith(' ') || getTitle(name).endsWith(' ')) return 'it starts or ends with a space'
  if (/%(2e|2f|5c|00)/i.test(name)) return 'it has an escaped path separator'
  if (reservedPattern.test(name)) return 'the name is reserved on Windows'
  if (countBytes(name) > 255) return 'it is longer than 255 bytes'
  return null
}

function countBytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
