export interface Frame {
  readonly file: string
  readonly line: number
}

/** An exception in a traceback or in the output of pytest. */
export interface PythonError {
  /** Class, such as `pandas.errors.ParserError`. */
  readonly type: string
  /** Empty if absent. */
  readonly message: string
  /** The frame that raised the exception is last. */
  readonly frames: readonly Frame[]
}

const frameLine = /^\s+File "(?<file>[^"]+)", line (?<line>\d+)(?:, in .+)?$/
const errorLine = /^(?<type>[A-Za-z_][\w.]*)(?:: (?<message>.*))?$/
const pytestFrame = /^(?<file>[^\s:][^:]*\.pyi?):(?<line>\d+): (?:in \S+|(?<type>[A-Za-z_][\w.]*))?$/

/** Reads tracebacks, then pytest errors, or single lines without either. In a chain, the uncaught exception is last. */
export function readPythonErrors(output: string): readonly PythonError[] {
  // In an exception group, lines start with a bar.
  const lines = output
    .split('\n')
    .map((line) => line.replace(/^\s*[|+](?:-[+|-]*)? ?(?=\s|Traceback|[A-Za-z_])/, ''))
  const tracebacks = lines.flatMap((line, index) =>
    /^\s*Traceback \(most recent call last\):$/.test(line) ? (readTraceback(lines, index) ?? []) : [],
  )
  const errors = [...tracebacks, ...readPytestErrors(lines)]
  return errors.length === 0 ? readSingleErrors(lines) : errors
}

function readTraceback(lines: readonly string[], index: number): PythonError | undefined {
  const indent = /^\s*/.exec(lines[index] ?? '')?.[0].length ?? 0
  const frames: Frame[] = []
  for (let lineIndex = index + 1; lineIndex < lines.length; lineIndex++) {
    const line = lines[lineIndex] ?? ''
    const frame = frameLine.exec(line)?.groups
    if (frame) frames.push(toFrame(frame))
    else if (line.trim() !== '' && line.length - line.trimStart().length <= indent) {
      const { type, message = '' } = errorLine.exec(line.trim())?.groups ?? {}
      if (type === undefined) return undefined
      return { type, message: readMessage(message, lines, lineIndex), frames }
    }
  }
  return undefined
}

const toFrame = ({ file = '', line }: Readonly<Record<string, string | undefined>>): Frame => ({
  file,
  line: Number(line),
})

/** Reads a message of at most five lines, which ends before a blank line. */
function readMessage(message: string, lines: readonly string[], index: number): string {
  const nextLines = lines.slice(index + 1, index + 5)
  const end = nextLines.findIndex(
    (line) => line.trim() === '' || /^(Traceback|[=_-]{5,}|\s+File ")/.test(line),
  )
  return [message, ...nextLines.slice(0, end < 0 ? nextLines.length : end)].join('\n').trim()
}

/** pytest marks messages with `E` and writes frames on separate lines. */
function readPytestErrors(lines: readonly string[]): PythonError[] {
  const errors: PythonError[] = []
  let frames: Frame[] = []
  let message: string[] = []
  for (const line of lines) {
    if (/^E {3}/.test(line)) message.push(line.slice(1).trim())
    const frame = pytestFrame.exec(line)?.groups
    if (frame === undefined) continue
    frames.push(toFrame(frame))
    if (message.length === 0) continue
    errors.push({ ...parsePytestMessage(message, frame.type), frames })
    frames = []
    message = []
  }
  if (message.length > 0) errors.push({ ...parsePytestMessage(message, undefined), frames })
  return errors
}

function parsePytestMessage(
  [first = '', ...others]: readonly string[],
  type: string | undefined,
): Pick<PythonError, 'type' | 'message'> {
  const groups = errorLine.exec(first)?.groups
  const furtherLines = others.slice(0, 4)
  const isError =
    groups?.type !== undefined &&
    (isSameType(groups.type, type) || /(Error|Exception|Exit|Warning)$/.test(groups.type))
  if (isError)
    return { type: groups.type ?? '', message: [groups.message ?? '', ...furtherLines].join('\n').trim() }
  return { type: type ?? 'AssertionError', message: [first, ...furtherLines].join('\n') }
}

/** pytest writes `pkg.errors.NotFound` in the message and `NotFound` at the location. */
const isSameType = (dotted: string, type: string | undefined): boolean =>
  type !== undefined && (dotted === type || dotted.endsWith(`.${type}`))

/** Reads errors printed without a traceback. */
function readSingleErrors(lines: readonly string[]): PythonError[] {
  return lines.flatMap((line, index) => {
    const { type, message = '' } =
      /^(?<type>(?:\w+\.)*\w*(?:Error|Exception)): (?<message>.+)$/.exec(line)?.groups ?? {}
    if (type === undefined) return []
    const frames = lines.slice(Math.max(0, index - 4), index).flatMap((precedingLine) => {
      const frame = frameLine.exec(precedingLine)?.groups
      return frame ? [toFrame(frame)] : []
    })
    return [{ type, message, frames }]
  })
}
