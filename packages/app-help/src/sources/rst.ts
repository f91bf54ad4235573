// cspell:ignore autoclass automodule cmdoption codeauthor confval currentmodule djadmin docutils doctest graphviz include literalinclude productionlist pycon sectionauthor seealso tabularcolumns testcleanup testcode testoutput testsetup todolist toctree versionadded versionchanged versionremoved -- names of reStructuredText
const codeDirectives = new Set(
  'code code-block sourcecode parsed-literal doctest testcode testoutput prompt console productionlist literal'.split(
    ' ',
  ),
)

const omittedDirectives = new Set(
  `contents include literalinclude raw index meta module py:module currentmodule py:currentmodule highlight default-role
  tabularcolumns sectionauthor codeauthor role testsetup testcleanup graphviz plot math rst-class`.split(
    /\s+/,
  ),
)

const labels: Readonly<Record<string, string>> = {
  versionadded: 'Added in version',
  versionchanged: 'Changed in version',
  versionremoved: 'Removed in version',
  deprecated: 'Deprecated since version',
  seealso: 'See also',
  admonition: '',
  topic: '',
  sidebar: '',
  rubric: '',
}

const describedDirective =
  /^(?:(?:py|c|cpp|js|rst|std):.*|function|method|attribute|data|exception|option|cmdoption|envvar|confval|describe|setting|auto.*|decorator|property)$/

/** More deeply nested directives are treated as text. */
const maxDepth = 20

const underline = /^([!-/:-@[-`{-~])\1*\s*$/
const directive = /^\.\. +(?:\|([^|]+)\| +)?([A-Za-z][\w:.+-]*?):: ?(.*)$/
const target = /^\.\. +_(`[^`]+`|[^:]+(?::\S[^:]*)*):(?:\s+(\S.*))?$/

interface Definitions {
  readonly substitutions: ReadonlyMap<string, string>
  /** Adornments of headings by level, in order of first use. */
  readonly adornments: string[]
}

/** Converts a page to Markdown in linear time. */
export function convertRst(text: string): string {
  const lines = text
    .replaceAll('\t', '        ')
    .split(/\r\n?|\n/)
    .map((line) => line.trimEnd())
  const definitions = { substitutions: readSubstitutions(lines), adornments: [] }
  return `${convertLines(lines, definitions, 0)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

function readSubstitutions(lines: readonly string[]): ReadonlyMap<string, string> {
  const substitutions = new Map<string, string>()
  for (const line of lines) {
    const [, name, kind, value] = directive.exec(line) ?? []
    if (name !== undefined && kind === 'replace' && value !== undefined) substitutions.set(name, value)
  }
  return substitutions
}

function convertLines(lines: readonly string[], definitions: Definitions, depth: number): string[] {
  const output: string[] = []
  let id = ''
  for (let lineIndex = 0; lineIndex < lines.length; ) {
    const line = lines[lineIndex] ?? ''
    const heading = readHeading(lines, lineIndex, depth)
    if (heading !== undefined) {
      const title = convertInline(heading.title, definitions)
      output.push('', `${'#'.repeat(getLevel(heading.adornment, definitions))} ${title}${id}`, '')
      id = ''
      lineIndex += heading.length
    } else if (/^\.\.(?:\s|$)/.test(line)) {
      const end = findBodyEnd(lines, lineIndex + 1, 0)
      id = readLabel(line) ?? id
      output.push(...convertExplicit(lines.slice(lineIndex, end), definitions, depth))
      lineIndex = end
    } else if (line.startsWith('>>>')) {
      const end = findBlankLine(lines, lineIndex)
      output.push(...makeFence(lines.slice(lineIndex, end), 'pycon'))
      lineIndex = end
    } else {
      const indent = measureIndent(line)
      const isLiteral = /(?:^|[^:]|\s)::\s*$/.test(line) && !/^\s*\.\. /.test(line)
      if (!/^\s*\.\.(?:\s|$)/.test(line)) output.push(convertText(line, definitions))
      lineIndex++
      if (/^\s+\.\.(?:\s|$)/.test(line)) {
        const end = findBodyEnd(lines, lineIndex, indent)
        const block = lines
          .slice(lineIndex - 1, end)
          .map((line) => line.slice(Math.min(indent, measureIndent(line))))
        output.push(...convertExplicit(block, definitions, depth))
        lineIndex = end
      } else if (isLiteral && isBlank(lines[lineIndex]) && lineIndex < lines.length) {
        const end = findBodyEnd(lines, lineIndex, indent)
        output.push(...makeFence(dedent(lines.slice(lineIndex, end)), ''))
        lineIndex = end
      }
    }
  }
  return output
}

/** Parses a title with a line of punctuation below it, and optionally above it. */
function readHeading(lines: readonly string[], lineIndex: number, depth: number) {
  if (depth > 0) return undefined
  const [first = '', second = '', third = ''] = lines.slice(lineIndex, lineIndex + 3)
  const isOverlined = underline.test(first) && first.trim().length >= 3
  if (isOverlined && second.trim() !== '' && third.trimEnd() === first.trimEnd())
    return { title: second.trim(), adornment: `${first[0]}${first[0]}`, length: 3 }
  if (first.trim() === '' || /^\s/.test(first) || isOverlined || !underline.test(second)) return undefined
  const length = second.trim().length
  if (length < 3 && length < [...first.trim()].length) return undefined
  return { title: first.trim(), adornment: second[0] ?? '', length: 2 }
}

function getLevel(adornment: string, { adornments }: Definitions): number {
  if (!adornments.includes(adornment)) adornments.push(adornment)
  return Math.min(6, adornments.indexOf(adornment) + 1)
}

/** Returns ` {#my-label}`, with the id that Sphinx writes, for `.. _my_label:`. */
function readLabel(line: string): string | undefined {
  const [, name, url] = target.exec(line) ?? []
  if (name === undefined || url !== undefined) return undefined
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return id === '' ? undefined : ` {#${id}}`
}

function convertExplicit(block: readonly string[], definitions: Definitions, depth: number): string[] {
  const [first = ''] = block
  const optionLines = block.slice(1)
  const [, substitution, rawName, argument = ''] = directive.exec(first) ?? []
  if (substitution !== undefined) return []
  if (rawName === undefined) {
    const [, marker, text = ''] = /^\.\. +\[([^\]]+)\] ?(.*)$/.exec(first) ?? []
    if (marker === undefined) return []
    return [
      convertText(`[${marker}] ${text}`, definitions),
      ...convertBody(dedent(optionLines), definitions, depth),
    ]
  }
  const name = rawName.toLowerCase()
  if (omittedDirectives.has(name)) return []
  const { options, body } = splitOptions(dedent(optionLines))
  if (codeDirectives.has(name)) return makeFence(body, argument.trim() || 'text')
  const convertInner = (): string[] => convertBody(body, definitions, depth)
  if (name === 'toctree') return ['', ...body.filter((line) => !isBlank(line)).map(convertTocEntry), '']
  if (name === 'image' || name === 'figure') return ['', options.get('alt') ?? '', '', ...convertInner()]
  const title = convertInline(argument, definitions)
  if (/(?:^|:)(?:list-table|csv-table|table)$/.test(name)) return ['', title, '', ...convertInner()]
  if (name === 'only' || name === 'container' || name === 'tab-set') return convertInner()
  if (describedDirective.test(name)) return ['', `\`${argument.trim()}\``, '', ...convertInner()]
  const label = labels[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}:`
  return ['', `${label} ${title}`.trim(), '', ...convertInner()]
}

function convertBody(body: readonly string[], definitions: Definitions, depth: number): string[] {
  if (depth >= maxDepth) return [...body]
  return [...convertLines(body, definitions, depth + 1), '']
}

function splitOptions(body: readonly string[]) {
  const options = new Map<string, string>()
  let lineIndex = 0
  for (; lineIndex < body.length; lineIndex++) {
    const [, name, value = ''] = /^:([A-Za-z][\w-]*):(?: +(.*))?$/.exec(body[lineIndex] ?? '') ?? []
    if (name === undefined) break
    options.set(name, value)
  }
  return { options, body: body.slice(lineIndex) }
}

function convertTocEntry(line: string): string {
  const entry = line.trim().slice(0, maxEntryLength)
  const [, title, page = entry] = /^(.*?) ?<([^<>]+)>$/.exec(entry) ?? []
  return `- [${title ?? getPageName(page)}](${getPagePath(page)})`
}

const maxEntryLength = 500

const getPageName = (page: string): string =>
  page
    .replace(/\/index$/, '')
    .replace(/^.*\//, '')
    .replace(/[-_]/g, ' ')

const getPagePath = (page: string): string => (/^[a-z]+:|\.\w+$/i.test(page) ? page : `${page}.rst`)

function makeFence(body: readonly string[], language: string): string[] {
  const code = [...body]
  while (isBlank(code[0]) && code.length > 0) code.shift()
  while (isBlank(code.at(-1)) && code.length > 0) code.pop()
  if (code.length === 0) return ['']
  const mark = code.some((line) => line.includes('```')) ? '~~~~' : '```'
  return ['', `${mark}${language.replace(/[^\w+#-]/g, '')}`, ...code, mark, '']
}

/** Omits table borders and transitions. */
function convertText(line: string, definitions: Definitions): string {
  if (/^\s*(?:\+[-=+]+\+|[=-]{2,}(?: +[=-]{2,})+|([=~^*_-])\1{3,})\s*$/.test(line)) return ''
  const visibleText = line
    .replace(/^(\s*)\|(?= )(?!.*\|\s*$)/, '$1')
    .replace(/(^|[^:])::\s*$/, '$1:')
    .replace(/^\s*:\s*$/, '')
    .replace(/^(\s*):([A-Za-z][\w .*-]{0,60}):(?=\s|$)/, '$1- $2:')
  if (/^\s*__\s/.test(visibleText)) return ''
  const inline = convertInline(visibleText, definitions)
  // Escapes text that Markdown would parse as a heading or a fence.
  return inline.replace(/^( {0,3})(?=#{1,6}(?:\s|$)|```|~~~)/, '$1\\')
}

function convertInline(text: string, { substitutions }: Definitions): string {
  if (!/[`|_]/.test(text)) return text
  const codes: string[] = []
  const store = (code: string): string => `\ue000${codes.push(code) - 1}\ue000`
  return text
    .replaceAll('\ue000', '')
    .replace(/``([^`]+)``/g, (_, code) => store(`\`${code}\``))
    .replace(/:([A-Za-z][\w:+-]{0,40}):`([^`]{1,2000})`/g, (_, role, value) =>
      store(convertRole(role, value)),
    )
    .replace(/`([^`<>]{0,1000}?)\s{0,20}<([^`<>\s]{1,1000})>`__?/g, (_, label, url) =>
      store(url.endsWith('_') || label === '' ? label || url : `[${label}](${url})`),
    )
    .replace(/`([^`]{1,1000})`__?/g, '$1')
    .replace(/\|([^|\s][^|]{0,100})\|_?/g, (all, name) => substitutions.get(name) ?? all)
    .replace(/(?<=\w)__?(?=[\s.,;:)]|$)/g, '')
    .replace(/\ue000(\d+)\ue000/g, (_, n) => codes[Number(n)] ?? '')
}

const codeRoles =
  /(?:^|:)(?:class|func|meth|mod|attr|exc|data|obj|const|any|type|command|option|program|envvar|file|samp|setting|confval|djadmin|kbd|literal|code)$/

function convertRole(role: string, value: string): string {
  const [, label, page] = /^(.*?)\s{0,20}<([^<>]*)>$/s.exec(value) ?? []
  const displayText = (label ?? value).replace(/^[!~]+(?:[\w.]*\.)?(?=\w)/, (mark) =>
    mark.includes('~') ? '' : mark.slice(1),
  )
  if (role === 'doc') return `[${label ?? getPageName(displayText)}](${getPagePath(page ?? value)})`
  return codeRoles.test(role) ? `\`${displayText}\`` : displayText
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

const measureIndent = (line: string): number => line.length - line.trimStart().length

/** Returns the end of the lines that are blank or indented by more than `indent`, without trailing blank lines. */
function findBodyEnd(lines: readonly string[], start: number, indent: number): number {
  let end = start
  for (let lineIndex = start; lineIndex < lines.length; lineIndex++) {
    const line = lines[lineIndex] ?? ''
    if (isBlank(line)) continue
    if (measureIndent(line) <= indent) break
    end = lineIndex + 1
  }
  return end
}

function findBlankLine(lines: readonly string[], start: number): number {
  let end = start
  while (end < lines.length && !isBlank(lines[end])) end++
  return end
}

function dedent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => !isBlank(line)).map(measureIndent)
  const minIndent = indents.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  return lines.map((line) => (isBlank(line) ? '' : line.slice(minIndent)))
}
