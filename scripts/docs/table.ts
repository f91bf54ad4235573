/** A Markdown table; cells may hold any text, since bars and line breaks in them are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

/** Text as code, or nothing for nothing. */
export function codeSpan(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}
