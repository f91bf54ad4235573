/** Exceptions of Python as its traceback or pytest shows them. */

/** A place in the code that was running. */
export interface Frame {
  readonly file: string
  readonly line: number
  readonly scope: string | undefined
}

/** One exception. */
export interface PythonError {
  /** Its class, `pandas.errors.ParserError` too. */
  readonly type: string
  /** Its message; empty where it has none. */
  readonly message: string
  /** From the outermost to the one that raised it. */
  readonly frames: readonly Frame[]
  /** How it relates to the one before it in a chain. */
  readonly follows: 'caused' | 'while-handling' | undefined
}

const links = {
  'The above exception was the direct cause of the following exception:': 'caused',
  'During handling of the above exception, another exception occurred:': 'while-handling',
} as const

const frameLine = /^\s+File "(?<file>[^"]+)", line (?<line>\d+)(?:, in (?<scope>.+))?$/
const raised = /^(?<type>[A-Za-z_][\w.]*)(?:: (?<message>.*))?$/
const shortFrame = /^(?<file>[^\s:][^:]*\.pyi?):(?<line>\d+): (?:in (?<scope>\S+)|(?<type>[A-Za-z_][\w.]*))?$/

/** Every exception in an output, in its order; each chain ends with the one that was not caught. */
export function pythonErrors(output: string): readonly PythonError[] {
  const lines = output.split('\n').map(withoutGroup)
  const tracebacks = lines.flatMap((line, index) =>
    /^\s*Traceback \(most recent call last\):$/.test(line) ? [readTraceback(lines, index)] : [],
  )
  const found = tracebacks.filter((error) => error !== undefined)
  const marked = pytestErrors(lines)
  return found.length === 0 && marked.length === 0 ? loneErrors(lines) : [...found, ...marked]
}

/** Members of an exception group are drawn behind a bar. */
const withoutGroup = (line: string): string =>
  line.replace(/^\s*[|+](?:-[+|-]*)? ?(?=\s|Traceback|[A-Za-z_])/, '')

function readTraceback(lines: readonly string[], at: number): PythonError | undefined {
  const indent = /^\s*/.exec(lines[at] ?? '')?.[0].length ?? 0
  const frames: Frame[] = []
  for (let index = at + 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const frame = frameLine.exec(line)?.groups
    if (frame) frames.push(frameOf(frame))
    else if (line.trim() !== '' && line.length - line.trimStart().length <= indent) {
      const { type, message = '' } = raised.exec(line.trim())?.groups ?? {}
      if (type === undefined) return undefined
      return { type, message: longer(message, lines, index), frames, follows: linkAbove(lines, at) }
    }
  }
  return undefined
}

const frameOf = ({ file = '', line, scope }: Readonly<Record<string, string | undefined>>): Frame => ({
  file,
  line: Number(line),
  scope,
})

/** A message of several lines goes on until a blank one; at most five of them are kept. */
function longer(message: string, lines: readonly string[], at: number): string {
  const more: string[] = []
  for (const line of lines.slice(at + 1, at + 5)) {
    if (line.trim() === '' || /^(Traceback|[=_-]{5,}|\s+File ")/.test(line)) break
    more.push(line)
  }
  return [message, ...more].join('\n').trim()
}

function linkAbove(lines: readonly string[], at: number): PythonError['follows'] {
  const above =
    lines
      .slice(Math.max(0, at - 3), at)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  return Object.hasOwn(links, above) ? links[above as keyof typeof links] : undefined
}

/** pytest marks the message with `E` and names the places in lines of their own. */
function pytestErrors(lines: readonly string[]): PythonError[] {
  const errors: PythonError[] = []
  let frames: Frame[] = []
  let said: string[] = []
  for (const line of lines) {
    if (/^E {3}/.test(line)) said.push(line.slice(1).trim())
    const place = shortFrame.exec(line)?.groups
    if (place === undefined) continue
    frames.push(frameOf(place))
    if (said.length === 0) continue
    errors.push({ ...saidError(said, place.type), frames, follows: undefined })
    frames = []
    said = []
  }
  if (said.length > 0) errors.push({ ...saidError(said, undefined), frames, follows: undefined })
  return errors
}

function saidError(said: readonly string[], type: string | undefined): Pick<PythonError, 'type' | 'message'> {
  const first = said[0] ?? ''
  const named = /^(?<type>[A-Za-z_][\w.]*)(?:: (?<message>[\s\S]*))?$/.exec(first)?.groups
  const isError =
    named?.type !== undefined && (named.type === type || /(Error|Exception|Exit|Warning)$/.test(named.type))
  const rest = said.slice(1, 5)
  if (isError) return { type: named.type ?? '', message: [named.message ?? '', ...rest].join('\n').trim() }
  return { type: type ?? 'AssertionError', message: [first, ...rest].join('\n') }
}

/** What a program prints of an error without its traceback. */
function loneErrors(lines: readonly string[]): PythonError[] {
  return lines.flatMap((line, index) => {
    const { type, message = '' } =
      /^(?<type>(?:\w+\.)*\w*(?:Error|Exception)): (?<message>.+)$/.exec(line)?.groups ?? {}
    if (type === undefined) return []
    const frames = lines.slice(Math.max(0, index - 4), index).flatMap((above) => {
      const frame = frameLine.exec(above)?.groups
      return frame ? [frameOf(frame)] : []
    })
    return [{ type, message, frames, follows: undefined }]
  })
}
