export const removeHeading = (text: string): string => text.replace(/^\s*#{1,6} [^\n]*\n+/, '')

/** Truncates at a space. Omits a truncated link or image, and closes an open code span. */
export function truncateExcerpt(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const words = text.slice(0, maxLength).replace(/\s+\S*$/, '')
  const lastLine = words.slice(words.lastIndexOf('\n') + 1)
  const isCode = (lastLine.split('`').length - 1) % 2 === 1
  if (isCode) return `${words}\`…`
  return `${words.replace(/\s*!?\[[^\]\n]{0,200}(?:\](?:\([^)\n]{0,200})?)?$/, '')}…`
}

const isRow = (line: string | undefined): boolean => line?.trimStart().startsWith('|') === true
const isDelimiter = (line: string | undefined): boolean => /^[\s|:-]*-[\s|:-]*$/.test(line ?? '')

/** Adds an empty header to tables that begin before the excerpt. */
export function completeTables(text: string): string {
  const lines = text.split('\n')
  return lines
    .flatMap((line, index) => {
      const isFirst = isRow(line) && !isRow(lines[index - 1])
      if (!isFirst || isDelimiter(lines[index + 1])) return [line]
      const cellCount = Math.max(1, line.trim().replace(/\|$/, '').split('|').length - 1)
      return [`|${'  |'.repeat(cellCount)}`, `|${' - |'.repeat(cellCount)}`, line]
    })
    .join('\n')
}

/** Whether a text is only HTML that shows nothing: comments, anchors, line breaks. */
export const isInvisibleHtml = (text: string): boolean =>
  /^(?:<!--(?:(?!-->)[\s\S])*-->|<a\s[^<>]*>|<\/a>|<br\s*\/?>|\s)+$/i.test(text)
