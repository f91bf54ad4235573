import { parse } from 'yaml'

interface FrontMatter {
  readonly title?: string
  readonly section?: string
  readonly language?: string
  readonly is_internal: boolean
  /** Number of lines including both fences, or 0. */
  readonly lines: number
}

/** Parses YAML between two `---` lines at the start of a page. Ignores malformed YAML. */
export function readFrontMatter(lines: readonly string[]): FrontMatter {
  const emptyFrontMatter: FrontMatter = { is_internal: false, lines: 0 }
  if (lines[0]?.trimEnd() !== '---') return emptyFrontMatter
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)\s*$/.test(line))
  if (end < 0) return emptyFrontMatter
  const data = readYaml(lines.slice(1, end).join('\n'))
  const text = (...names: readonly string[]): string | undefined => {
    const value = names.map((name) => data[name]).find((candidate) => typeof candidate === 'string')
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
    // A page with malformed front matter is still indexed.
    return {}
  }
}
