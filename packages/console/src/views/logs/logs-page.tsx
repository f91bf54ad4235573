import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { followEvents } from '../../data/follow-events.ts'
import type { LogLine } from '../../data/types.ts'
import { formatHash, parseHash } from '../../domain/link.ts'
import { findLevel, formatFields, logLevels } from '../../domain/log-text.ts'
import { formatTime } from '../../domain/text.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'
import { ValueTree } from '../../ui/value-tree.tsx'
import { VirtualTable } from '../../ui/virtual-table.tsx'
import './logs.css'

const maxLines = 2000

export function LogsPage() {
  const { server, navigation } = useConsole()
  const hash = parseHash(navigation.hash.value.text)
  const [level, setLevel] = useState(Number(hash.get('level') ?? 30))
  const [text, setText] = useState(hash.get('text') ?? '')
  const [isPaused, setPaused] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    navigation.replaceHash(
      formatHash(location.hash, { level: String(level), text: text === '' ? undefined : text }),
    )
  }, [level, text])
  useShortcuts(() => [
    { keys: 'p', label: 'Pause or continue', run: () => setPaused((wasPaused) => !wasPaused) },
    { keys: '/', label: 'Filter lines', run: () => input.current?.focus() },
  ])
  const query = `level=${level}&text=${encodeURIComponent(text)}`
  const loaded = useLoaded(
    (signal) => server.get<{ lines: readonly LogLine[] }>(`/api/apps/causeway/logs?${query}`, { signal }),
    [query, server.needsToken.value],
  )
  return (
    <div class="page wide">
      <div class="page-head">
        <h1>Logs</h1>
        <p class="muted">The latest lines of the server, newest first. Secrets and folders are replaced.</p>
      </div>
      <div class="row">
        <input
          ref={input}
          class="logs-filter"
          type="search"
          aria-label="Filter"
          placeholder="part of a line, such as a request id"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {logLevels.map((logLevel) => (
          <button
            key={logLevel.name}
            type="button"
            class="button"
            aria-pressed={level === logLevel.level}
            onClick={() => setLevel(logLevel.level)}
          >
            {logLevel.name === 'error' ? 'error' : `${logLevel.name} and above`}
          </button>
        ))}
        <span class="space" />
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Continue' : 'Pause'}
        </button>
      </div>
      <LoadedView loaded={loaded}>
        {({ lines }) => <LineList key={query} earlierLines={lines} {...{ level, text, isPaused }} />}
      </LoadedView>
    </div>
  )
}

interface LineListProps {
  readonly earlierLines: readonly LogLine[]
  readonly level: number
  readonly text: string
  readonly isPaused: boolean
}

function LineList({ earlierLines, level, text, isPaused }: LineListProps) {
  const lines = useLines(earlierLines, { level, text, isPaused })
  const [chosenLine, setChosenLine] = useState<LogLine>()
  if (lines.length === 0)
    return <Empty title="No line matches">New lines that match are listed here as they are written.</Empty>
  return (
    <div class={`logs ${chosenLine === undefined ? '' : 'with-panel'}`}>
      <div class="stack">
        <VirtualTable
          label="Log lines"
          rows={lines}
          rowClass={(line) => (line === chosenLine ? 'chosen' : '')}
          head={
            <tr>
              <th class="column-time">Time (UTC)</th>
              <th class="column-level">Level</th>
              <th class="column-message">Message</th>
              <th>Fields</th>
            </tr>
          }
          cells={(line) => {
            const { name, severity } = findLevel(line)
            return (
              <>
                <td class="mono">{formatTime(new Date(line.time).toISOString())}</td>
                <td>
                  <Chip severity={severity}>{name}</Chip>
                </td>
                <td class="clip">
                  <button type="button" class="row-button" onClick={() => setChosenLine(line)}>
                    <bdi>{line.msg ?? '–'}</bdi>
                  </button>
                </td>
                <td class="clip mono muted">
                  <bdi>{formatFields(line)}</bdi>
                </td>
              </>
            )
          }}
        />
        <div>
          <Download lines={lines} />
        </div>
      </div>
      {chosenLine !== undefined && (
        <aside class="card stack logs-panel" aria-label="Line">
          <div class="row spread">
            <h2>Line</h2>
            <button type="button" class="button quiet" onClick={() => setChosenLine(undefined)}>
              Close
            </button>
          </div>
          {chosenLine.request_id !== undefined && (
            <a href={`/traffic/${encodeURIComponent(chosenLine.request_id)}`}>Open the call</a>
          )}
          <ValueTree value={chosenLine} />
        </aside>
      )}
    </div>
  )
}

/** Returns the matching lines, newest first. Lines that arrive while paused are shown afterwards. */
function useLines(
  earlierLines: readonly LogLine[],
  { level, text, isPaused }: Omit<LineListProps, 'earlierLines'>,
): readonly LogLine[] {
  const { server } = useConsole()
  const receivedLines = useMemo(() => [...earlierLines], [])
  const [lines, setLines] = useState<readonly LogLine[]>(() => earlierLines.toReversed())
  const searchedText = text.toLowerCase()
  const isPausedRef = useRef(isPaused)
  isPausedRef.current = isPaused
  const show = (): void => setLines(receivedLines.toReversed())
  useEffect(() => {
    let isChanged = false
    let isFirst = true
    const receive = ({ events }: { readonly events: readonly LogLine[] }): void => {
      const newLines = events.filter(
        (line) => line.level >= level && JSON.stringify(line).toLowerCase().includes(searchedText),
      )
      // The recent lines may repeat earlier ones.
      const lastEarlierLine = isFirst ? JSON.stringify(earlierLines.at(-1)) : undefined
      isFirst = false
      const added = newLines.slice(
        newLines.findLastIndex((line) => JSON.stringify(line) === lastEarlierLine) + 1,
      )
      isChanged ||= added.length > 0
      receivedLines.push(...added)
      receivedLines.splice(0, receivedLines.length - maxLines)
    }
    const path = '/api/apps/causeway/logs/events'
    const end = followEvents<LogLine>(server, path, receive, { from: 'recent' })
    const timer = setInterval(() => {
      if (!isChanged || isPausedRef.current) return
      isChanged = false
      show()
    }, 250)
    return () => {
      end()
      clearInterval(timer)
    }
  }, [])
  return lines
}

function Download({ lines }: { lines: readonly LogLine[] }) {
  const save = (): void => {
    const text = lines
      .toReversed()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
    const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'causeway-log.ndjson'
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button type="button" class="button" onClick={save}>
      Download what is shown ({lines.length})
    </button>
  )
}
