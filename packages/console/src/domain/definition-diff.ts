export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk'
  readonly text: string
}

type Definition = Readonly<Record<string, unknown>>

/** Maximum number of compared lines of a member. Longer members are shown as removed and added. */
const maxComparedLines = 400

/** Returns the members that differ, each with its name and lines. */
export function diffDefinitions(approved: Definition | undefined, current: Definition): readonly DiffLine[] {
  const before = approved ?? {}
  const members = [...new Set([...Object.keys(before), ...Object.keys(current)])]
  return members.flatMap((member) => {
    const lines = diffLines(toLines(before[member]), toLines(current[member]))
    return lines.every(({ kind }) => kind === 'same')
      ? []
      : [{ kind: 'hunk', text: member } as const, ...lines]
  })
}

function toLines(value: unknown): readonly string[] {
  if (value === undefined) return []
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n').map(showInvisible)
}

/** Escapes control and format characters, which can hide or reorder the text that a person approves. */
export const showInvisible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\t' || character === '\n'
      ? character
      : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  )

function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length > maxComparedLines || after.length > maxComparedLines)
    return [...before.map((text) => line('removed', text)), ...after.map((text) => line('added', text))]
  const commonLengths = measureCommon(before, after)
  const at = (row: number, column: number): number => commonLengths[row]?.[column] ?? 0
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < before.length || column < after.length) {
    const [oldLine, newLine] = [before[row], after[column]]
    if (oldLine !== undefined && oldLine === newLine) {
      lines.push(line('same', oldLine))
      row++
      column++
    } else if (
      oldLine !== undefined &&
      (newLine === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push(line('removed', oldLine))
      row++
    } else {
      lines.push(line('added', newLine ?? ''))
      column++
    }
  }
  return lines
}

/** Returns the length of the longest common subsequence after each pair of positions. */
function measureCommon(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const commonLengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  )
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--) {
      const [rowBelow, currentRow] = [commonLengths[row + 1] ?? [], commonLengths[row] ?? []]
      currentRow[column] =
        before[row] === after[column]
          ? (rowBelow[column + 1] ?? 0) + 1
          : Math.max(rowBelow[column] ?? 0, currentRow[column + 1] ?? 0)
    }
  return commonLengths
}

const line = (kind: DiffLine['kind'], text: string): DiffLine => ({ kind, text })
