const skipped = new Set(
  'script style template noscript svg nav footer header aside form button iframe canvas'.split(' '),
)
const blocks = new Set(
  'p div section article main table thead tbody ul ol dl dt dd blockquote figure figcaption hr address details summary'.split(
    ' ',
  ),
)

interface Token {
  /** Lower-case tag name, with `/` for an end tag. Empty for text. */
  readonly name: string
  readonly text: string
}

/** Converts `main`, otherwise `article`, otherwise the page, to Markdown. Omits navigation and scripts. */
export function convertHtml(html: string): string {
  const tokens = [...listTokens(html)]
  const title = readTitle(tokens)
  const writer = new MarkdownWriter()
  for (const token of selectContent(tokens)) writer.write(token)
  const text = writer.finish()
  return /^# /m.test(text) || title === '' ? text : `# ${title}\n\n${text}`
}

function readTitle(tokens: readonly Token[]): string {
  const start = tokens.findIndex(({ name }) => name === 'title')
  const next = tokens[start + 1]
  return start < 0 || next?.name !== '' ? '' : decode(next.text).replace(/\s+/g, ' ').trim()
}

function selectContent(tokens: readonly Token[]): readonly Token[] {
  for (const element of ['main', 'article', 'body']) {
    const start = tokens.findIndex(({ name }) => name === element)
    const end = tokens.findLastIndex(({ name }) => name === `/${element}`)
    if (start >= 0) return tokens.slice(start + 1, end > start ? end : undefined)
  }
  const headEnd = tokens.findIndex(({ name }) => name === '/head')
  return tokens.slice(headEnd + 1)
}

/** Yields tags and texts in linear time. Omits elements such as scripts. */
function* listTokens(html: string): Generator<Token> {
  let skip = { name: '', depth: 0 }
  for (let position = 0; position < html.length; ) {
    const start = html.indexOf('<', position)
    const textEnd = start < 0 ? html.length : start
    if (textEnd > position && skip.depth === 0) yield { name: '', text: html.slice(position, textEnd) }
    if (start < 0) return
    const [, name = ''] = /^<(\/?[a-z][a-z0-9-]*|!--|[!?])/i.exec(html.slice(start, start + 40)) ?? []
    if (name === '') {
      if (skip.depth === 0) yield { name: '', text: '<' }
      position = start + 1
      continue
    }
    const end = name === '!--' ? html.indexOf('-->', start + 4) + 2 : findTagEnd(html, start)
    if (end < start) return
    position = end + 1
    const tag = name.toLowerCase()
    if (tag.startsWith('!') || tag === '?') continue
    const text = html.slice(start + 1 + name.length, end)
    if (skip.depth > 0) {
      if (tag === `/${skip.name}`) skip = { ...skip, depth: skip.depth - 1 }
      else if (tag === skip.name) skip = { ...skip, depth: skip.depth + 1 }
    } else if (skipped.has(tag) && !text.endsWith('/')) {
      skip = { name: tag, depth: 1 }
      if (tag === 'script' || tag === 'style') {
        const close = new RegExp(`</${tag}`, 'gi')
        close.lastIndex = position
        position = close.exec(html)?.index ?? html.length
      }
    } else yield { name: tag, text }
  }
}

/** Returns the index of the next `>` outside quoted attributes, or -1. */
function findTagEnd(html: string, start: number): number {
  let quote = ''
  for (let position = start; position < html.length; position++) {
    const char = html[position] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '>') return position
    else if ((char === '"' || char === "'") && html[position - 1] === '=') quote = char
  }
  return -1
}

class MarkdownWriter {
  readonly #parts: string[] = []
  #heading: { readonly level: number; readonly id: string; text: string } | undefined
  #code: string | undefined

  write({ name, text }: Token): void {
    if (name === '') this.#addText(decode(text))
    else if (/^h[1-6]$/.test(name))
      this.#heading = { level: Number(name[1]), id: readAttribute(text, 'id'), text: '' }
    else if (/^\/h[1-6]$/.test(name)) this.#endHeading()
    else if (name === 'pre') this.#code = ''
    else if (name === '/pre') this.#endCode()
    else if (this.#code === undefined && this.#heading === undefined) this.#addTag(name, text)
    else if (name === 'br') this.#addText('\n')
  }

  finish(): string {
    this.#endHeading()
    this.#endCode()
    return `${this.#parts
      .join('')
      .replace(/[ \t]+\n/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()}\n`
  }

  #addText(text: string): void {
    if (this.#code !== undefined) this.#code += text
    else if (this.#heading !== undefined) this.#heading.text += text
    else {
      const normalizedText = text.replace(/\s+/g, ' ')
      this.#parts.push(this.#parts.at(-1)?.endsWith('\n') ? normalizedText.trimStart() : normalizedText)
    }
  }

  #addTag(name: string, attributes: string): void {
    const tagName = name.replace(/^\//, '')
    if (blocks.has(tagName)) this.#parts.push('\n\n')
    else if (name === 'li') this.#parts.push('\n- ')
    else if (name === 'br') this.#parts.push('\n')
    else if (name === 'tr') this.#parts.push('\n| ')
    else if (name === '/td' || name === '/th') this.#parts.push(' | ')
    else if (tagName === 'code') this.#parts.push('`')
    else if (name === 'img') this.#addText(decode(readAttribute(attributes, 'alt')))
  }

  #endHeading(): void {
    if (this.#heading === undefined) return
    const { level, id, text } = this.#heading
    this.#heading = undefined
    const title = text.replace(/[\s¶]+/g, ' ').trim()
    if (title !== '') this.#parts.push(`\n\n${'#'.repeat(level)} ${title}${id === '' ? '' : ` {#${id}}`}\n\n`)
  }

  #endCode(): void {
    if (this.#code === undefined) return
    const code = this.#code.replace(/^\n|\s+$/g, '')
    this.#code = undefined
    const fence = code.includes('```') ? '~~~~' : '```'
    this.#parts.push(`\n\n${fence}\n${code}\n${fence}\n\n`)
  }
}

function readAttribute(attributes: string, name: string): string {
  const match = new RegExp(`(?:^|\\s)${name}=(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes)
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? ''
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  para: '',
  rarr: '→',
  copy: '©',
}

const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (reference, decimal, hex, name) => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? reference
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
