import { formatClient } from '@causeway/protocol/call-filter'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CallRecord } from '../../data/types.ts'
import { matchesFilter } from '../../domain/call-filter.ts'
import { formatHash, parseHash } from '../../domain/link.ts'
import { formatBytes, formatCount, formatMs, formatTime } from '../../domain/text.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Chip, Empty } from '../../ui/state.tsx'
import { VirtualTable } from '../../ui/virtual-table.tsx'
import { CallPanel } from './call-panel.tsx'
import { ErrorList } from './error-list.tsx'
import { HistoryBar } from './history-bar.tsx'
import './traffic.css'
import { useCalls } from './use-calls.ts'
import { useCallFilter, useHistory } from './use-history.ts'

const quickFilters: readonly (readonly [label: string, filter: string])[] = [
  ['All', ''],
  ['Failed', 'code:*'],
  ['Slower than 100 ms', 'ms:>100'],
  ['Without this browser', '-client:browser'],
]

export function TrafficPage({ parts: { request } }: { parts: PathParts }) {
  const { navigation } = useConsole()
  const { log, version } = useCalls()
  const hash = parseHash(navigation.hash.value.text)
  const [filter, setFilter] = useState(hash.get('filter') ?? '')
  const [isGrouped, setGrouped] = useState(hash.get('group') === 'error')
  const [isPaused, setPaused] = useState(false)
  const [isAtTop, setAtTop] = useState(true)
  const input = useRef<HTMLInputElement>(null)
  const newHash = formatHash(location.hash, {
    filter: filter === '' ? undefined : filter,
    group: isGrouped ? 'error' : undefined,
  })
  const suffix = newHash === '' ? '' : `#${newHash}`
  useEffect(() => navigation.replaceHash(newHash), [filter, isGrouped, request])
  useEffect(() => setFilter(hash.get('filter') ?? ''), [navigation.hash.value])
  useShortcuts(() => [
    { keys: 'p', label: 'Pause or continue', run: () => setPaused((oldValue) => !oldValue) },
    { keys: '/', label: 'Filter calls', run: () => input.current?.focus() },
    { keys: 'e', label: 'Group by error', run: () => setGrouped((oldValue) => !oldValue) },
  ])
  const isFrozen = isPaused || !isAtTop
  const parsed = useCallFilter(filter)
  const history = useHistory(log, parsed.text)
  const rows = useMemo(
    () => log.find((call) => matchesFilter(parsed.filter, call)),
    [log, version, parsed.filter],
  )
  const displayedRows = useFrozenRows(rows, isFrozen, parsed.text)
  // A search can find a call before the stream sends it.
  const shownCalls = useMemo(
    () => log.merge(displayedRows, history.calls.value),
    [log, version, displayedRows, history.calls.value],
  )
  const pendingCount = isFrozen ? rows.length - displayedRows.length : 0
  return (
    <div class="page wide">
      <div class="row spread">
        <div class="page-head">
          <h1>Traffic</h1>
          <p class="muted">
            Every call of a tool as it ends. To see arguments and answers, capture a session.
          </p>
        </div>
        <Rates log={log} />
      </div>
      <Toolbar {...{ input, filter, setFilter, isGrouped, setGrouped, isPaused, setPaused }} />
      {parsed.error !== undefined && (
        <p class="notice err" role="alert">
          The filter {parsed.error}
        </p>
      )}
      {isGrouped && <ErrorList show={(value) => setFilter(value)} suffix={suffix} />}
      <div class={`traffic ${request === undefined ? '' : 'with-panel'}`}>
        <div class="stack traffic-list">
          {isFrozen && (
            <FrozenNotice isPaused={isPaused} pendingCount={pendingCount} resume={() => setPaused(false)} />
          )}
          {log.missed > 0 && (
            <p class="muted">{formatCount(log.missed)} calls were too many to show. The audit has them.</p>
          )}
          {shownCalls.length === 0 ? (
            <Empty title={parsed.text === '' ? 'No calls yet' : 'No call matches the filter'}>
              <p>Calls of all clients are listed here when they end.</p>
              {parsed.text === '' && <a href="/apps/causeway/list_apps">Call a tool</a>}
            </Empty>
          ) : (
            <CallTable calls={shownCalls} chosenRequest={request} onTop={setAtTop} suffix={suffix} />
          )}
          <HistoryBar history={history} load={() => void history.load(log)} />
        </div>
        {request !== undefined && (
          <CallPanel key={request} {...{ log, request, suffix }} filter={setFilter} />
        )}
      </div>
    </div>
  )
}

interface ToolbarProps {
  readonly input: RefObject<HTMLInputElement | null>
  readonly filter: string
  readonly setFilter: (filter: string) => void
  readonly isGrouped: boolean
  readonly setGrouped: (isGrouped: boolean) => void
  readonly isPaused: boolean
  readonly setPaused: (isPaused: boolean) => void
}

function Toolbar({ input, filter, setFilter, isGrouped, setGrouped, isPaused, setPaused }: ToolbarProps) {
  return (
    <div class="row">
      <input
        ref={input}
        class="traffic-filter"
        type="search"
        aria-label="Filter"
        placeholder="tool:get_frame code:* ms:>50"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      {quickFilters.map(([label, value]) => (
        <button
          key={label}
          type="button"
          class="button"
          aria-pressed={filter === value}
          onClick={() => setFilter(value)}
        >
          {label}
        </button>
      ))}
      <span class="space" />
      <button type="button" class="button" aria-pressed={isGrouped} onClick={() => setGrouped(!isGrouped)}>
        Group by error
      </button>
      <button type="button" class="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
        {isPaused ? 'Continue' : 'Pause'}
      </button>
    </div>
  )
}

interface FrozenNoticeProps {
  readonly isPaused: boolean
  readonly pendingCount: number
  readonly resume: () => void
}

function FrozenNotice({ isPaused, pendingCount, resume }: FrozenNoticeProps) {
  const showNewest = (): void => {
    resume()
    document.querySelector('.virtual')?.scrollTo({ top: 0 })
  }
  return (
    <div class="notice warn" role="status">
      <span>
        {isPaused ? 'Paused' : 'New calls are held back while the list is scrolled'},{' '}
        {formatCount(Math.max(0, pendingCount))} new
      </span>
      <button type="button" class="button" onClick={showNewest}>
        Show the newest
      </button>
    </div>
  )
}

/** While the list is frozen, returns the earlier rows, unless the filter changed. */
function useFrozenRows(
  rows: readonly CallRecord[],
  isFrozen: boolean,
  filter: string,
): readonly CallRecord[] {
  const frozenRows = useRef({ rows, filter })
  if (!isFrozen || frozenRows.current.filter !== filter) frozenRows.current = { rows, filter }
  return frozenRows.current.rows
}

function Rates({ log }: { log: ReturnType<typeof useCalls>['log'] }) {
  const rates = log.getRates(Date.now())
  const calls = rates.map((rate) => rate.calls)
  const last = calls.slice(-11, -1).reduce((sum, count) => sum + count, 0) / 10
  return (
    <div class="row traffic-rates">
      <Sparkline
        label={`Calls per second over the last minute, at most ${Math.max(...calls)}`}
        values={calls}
        errors={rates.map(({ errors }) => errors)}
      />
      <dl class="row">
        <div>
          <dt class="muted">Calls/s</dt>
          <dd class="figure-value">{last < 10 ? last.toFixed(1) : formatCount(Math.round(last))}</dd>
        </div>
        <div>
          <dt class="muted">Received</dt>
          <dd class="figure-value" data-total>
            {formatCount(log.total)}
          </dd>
        </div>
        <div>
          <dt class="muted">Failed</dt>
          <dd class="figure-value">{formatCount(log.errors)}</dd>
        </div>
      </dl>
    </div>
  )
}

interface CallTableProps {
  readonly calls: readonly CallRecord[]
  readonly chosenRequest: string | undefined
  readonly onTop: (isAtTop: boolean) => void
  /** The part of the address from `#`, which describes what the page shows. */
  readonly suffix: string
}

const CallTable = ({ calls, chosenRequest, onTop, suffix }: CallTableProps) => (
  <VirtualTable
    label="Calls"
    rows={calls}
    onTop={onTop}
    rowClass={({ metadata }) => (metadata.request_id === chosenRequest ? 'chosen' : '')}
    head={
      <tr>
        <th class="column-time">Time (UTC)</th>
        <th class="column-tool">Tool</th>
        <th class="column-subject">About</th>
        <th>Client</th>
        <th class="column-number number">ms</th>
        <th class="column-number number size wide-only">In</th>
        <th class="column-number number size wide-only">Out</th>
        <th class="column-result">Result</th>
      </tr>
    }
    cells={({ timestamp, toolName, duration, error, metadata }) => (
      <>
        <td class="mono">{formatTime(timestamp)}</td>
        <td class="clip">
          <a class="row-link" href={`/traffic/${encodeURIComponent(metadata.request_id)}${suffix}`}>
            <bdi>
              {metadata.app}__{toolName}
            </bdi>
          </a>
        </td>
        <td class="clip muted">
          <bdi>{metadata.subject ?? ''}</bdi>
        </td>
        <td class="clip">
          <bdi>{formatClient(metadata.client)}</bdi>
        </td>
        <td class="number">{formatMs(duration)}</td>
        <td class="number muted size wide-only">{formatSize(metadata.request_bytes)}</td>
        <td class="number muted size wide-only">{formatSize(metadata.answer_chars)}</td>
        <td class="clip">
          {error === undefined ? <Chip severity="ok">ok</Chip> : <Chip severity="err">{error.code}</Chip>}
        </td>
      </>
    )}
  />
)

const formatSize = (bytes: number | undefined): string => (bytes === undefined ? '–' : formatBytes(bytes))
