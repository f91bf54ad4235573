import { homedir } from 'node:os'
import { EventFeed } from '../activity/event-feed.ts'

interface LogLine {
  /** pino's levels: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
  readonly level: number
  /** Unix milliseconds. */
  readonly time: number
  readonly msg?: string
  readonly [field: string]: unknown
}

interface LogFilter {
  readonly level: number
  /** Text that lines contain, regardless of case. */
  readonly text: string
}

const maxLines = 2000
const warnLevel = 40
const maxLineLength = 8000

export class LogTail {
  readonly feed = new EventFeed<string>(maxLines)
  /** Separate, because thousands of later lines of calls would displace them. */
  readonly #warnings = new EventFeed<string>(maxLines / 4)
  readonly #folders: readonly (readonly [path: string, name: string])[]

  constructor(dataDir: string) {
    this.#folders = [
      [dataDir, '<data folder>'],
      [homedir(), '~'],
    ]
  }

  write(line: string): void {
    const storedLine = line.length <= maxLineLength ? line : shorten(line)
    this.feed.publish(storedLine)
    if (getLevel(storedLine) >= warnLevel) this.#warnings.publish(storedLine)
  }

  find(filter: LogFilter, limit: number): readonly LogLine[] {
    const lines: LogLine[] = []
    const feed = filter.level >= warnLevel ? this.#warnings : this.feed
    for (const text of feed.readAfter(0).events.toReversed()) {
      if (matches(text, filter)) lines.push(this.parse(text))
      if (lines.length === limit) break
    }
    return lines.reverse()
  }

  /** Replaces this machine's folders, and omits stacks, which only the files contain. */
  parse(text: string): LogLine {
    let redactedText = text
    for (const [path, name] of this.#folders)
      if (path.length > 1) redactedText = redactedText.replaceAll(JSON.stringify(path).slice(1, -1), name)
    return JSON.parse(redactedText, (key, value: unknown) => (key === 'stack' ? undefined : value)) as LogLine
  }
}

/** pino writes `{"level":` and two digits first, so the line need not be parsed. */
const getLevel = (line: string): number => Number(line.slice(9, 11))

const matches = (line: string, { level, text }: LogFilter): boolean =>
  getLevel(line) >= level && (text === '' || line.toLowerCase().includes(text.toLowerCase()))

function shorten(line: string): string {
  const { level, time, msg = '', request_id } = JSON.parse(line) as LogLine
  return JSON.stringify({ level, time, request_id, msg: msg.slice(0, maxLineLength / 2), is_cut: true })
}
