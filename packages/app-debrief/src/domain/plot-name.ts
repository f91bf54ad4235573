/** Names of plot files: a name that could lead anywhere is refused, never rewritten into another one. */
import { CausewayError } from '@causeway/protocol'

/** What every plot file is called at its end. */
const plotEnding = '.plot.json'

const reserved = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
const forbidden = /[\u0000-\u001f\u007f<>:"/\\|?*]/

/** The name in Unicode's composed form. Throws `INVALID_FILENAME`. */
export function plotName(filename: string): string {
  const name = filename.normalize('NFC')
  const problem = problemOf(name)
  if (problem === null) return name
  throw new CausewayError(
    'INVALID_FILENAME',
    `not the name of a plot file, ${problem}: ${name.slice(0, 255)}`,
    {
      data: { filename: name.slice(0, 255) },
    },
  )
}

/** True for the name of a plot file. */
export const isPlotName = (name: string): boolean => problemOf(name.normalize('NFC')) === null

/** The title of a plot: its name without the ending. */
export const titleOf = (filename: string): string => filename.slice(0, -plotEnding.length)

function problemOf(name: string): string | null {
  if (!name.endsWith(plotEnding)) return `it must end with ${plotEnding}`
  if (name === plotEnding) return 'nothing stands before its ending'
  if (forbidden.test(name)) return 'it holds a character that no file name may have'
  if (name.startsWith('.')) return 'it begins with a dot'
  if (name.startsWith(' ') || titleOf(name).endsWith(' ')) return 'it begins or ends with a space'
  if (/%(2e|2f|5c|00)/i.test(name)) return 'it holds an escaped path'
  if (reserved.test(name)) return 'Windows keeps this name for a device'
  if (utf8Length(name) > 255) return 'it is longer than 255 bytes'
  return null
}

/** Bytes in UTF-8. */
function utf8Length(text: string): number {
  let bytes = 0
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
