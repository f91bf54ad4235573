import { parse } from 'yaml'

/** What a page says of itself before its text begins. */
export interface FrontMatter {
  readonly title?: string
  readonly section?: string
  readonly language?: string
  /** True where the page itself says that it is not for everybody. */
  readonly is_internal: boolean
  /** Lines that it takes, with both fences; 0 where there is none. */
  readonly lines: number
}

/** Reads YAML between two lines of `---` at the start; what cannot be read is skipped with `lines` alone. */
export function frontMatter(lines: readonly string[]): FrontMatter {
  const none: FrontMatter = { is_internal: false, lines: 0 }
  if (lines[0]?.trimEnd() !== '---') return none
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)\s*$/.test(line))
  if (end < 0) return none
  const data = readYaml(lines.slice(1, end).join('\n'))
  const text = (...names: readonly string[]): string | undefined => {
    const value = names.map((name) => data[name]).find((found) => typeof found === 'string')
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
  }
  const [title, section, language] = [text('title'), text('section', 'category'), text('language', 'lang')]
  return {
    ...(title === undefined ? {} : { title }),
    ...(section === undefined ? {} : { section }),
    ...(language === undefined ? {} : { language: language.toLowerCase() }),
    is_internal: data.internal === true || data.is_internal === true || data.draft === true,
    lines: end + 1,
  }
}

function readYaml(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0, logLevel: 'silent' })
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // A page with a torn head is still worth its text.
    return {}
  }
}
