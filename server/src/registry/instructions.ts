import type { App } from '@causeway/app-kit'
import type { Mount } from './mount.ts'

/** Clients truncate longer instructions. */
const maxInstructionBytes = 2000

const coreHint =
  'This list has only the most important tools. For others: Causeway__find_tools, then Causeway__call_read_tool or Causeway__call_tool with the name that it returns.'

/**
 * Returns an app's instructions. For a shared mount, returns the first line of each app, shortened if necessary,
 * then further lines in turn.
 */
export function writeInstructions({ app, view }: Mount, apps: readonly App[]): string {
  if (app !== undefined) return apps.map(formatInstructions).join('\n')
  const heading = view === 'core' ? [coreHint] : []
  let remainingBytes = maxInstructionBytes - countBytes(heading)
  const texts = apps.map((app) => formatInstructions(app).split('\n'))
  const firstLines = shortenLines(
    texts.map(([line = '']) => line),
    remainingBytes,
  )
  remainingBytes -= countBytes(firstLines)
  const selectedLines = firstLines.map((line) => [line])
  for (let round = 1; round < Math.max(...texts.map(({ length }) => length)); round += 1)
    for (const [index, lines] of selectedLines.entries()) {
      const line = texts[index]?.[round]
      // An app's lines end before the first line that does not fit.
      if (line === undefined || lines.length !== round || countBytes([line]) > remainingBytes) continue
      lines.push(line)
      remainingBytes -= countBytes([line])
    }
  return [...heading, ...selectedLines.flat()].join('\n')
}

/** Cuts lines to one maximum length if their total exceeds `maxBytes`. */
function shortenLines(lines: readonly string[], maxBytes: number): readonly string[] {
  if (countBytes(lines) <= maxBytes) return lines
  const maxLineBytes = Math.floor(maxBytes / lines.length) - 1
  const ellipsis = '…'
  return lines.map((line) =>
    Buffer.byteLength(line) <= maxLineBytes
      ? line
      : `${Buffer.from(line)
          .subarray(0, maxLineBytes - Buffer.byteLength(ellipsis))
          .toString()
          .replace(/\ufffd+$/, '')}${ellipsis}`,
  )
}

const formatInstructions = ({ name, instructions, about }: App): string => `${name}: ${instructions ?? about}`

const countBytes = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
