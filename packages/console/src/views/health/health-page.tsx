import { useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../../data/server.ts'
import type { Figures, Health, HealthSample } from '../../data/types.ts'
import { formatBytes, formatCount, formatDuration } from '../../domain/text.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import { useConsole } from '../../ui/console.ts'
import { Chip, ErrorNotice, LoadedView, toSeverity, useLoaded } from '../../ui/state.tsx'
import { AppChip, AppError } from '../servers/app-state.tsx'
import './health.css'

export function HealthPage() {
  const { server } = useConsole()
  const access = server.needsToken.value
  const health = useLoaded((signal) => server.get<Health>('/health', { signal }), [access], {
    intervalMs: 2000,
  })
  const figures = useLoaded(
    (signal) => server.get<Figures>('/api/apps/causeway/figures', { signal }),
    [access],
    { intervalMs: 5000 },
  )
  return (
    <div class="page">
      <div class="row spread">
        <div class="page-head">
          <h1>Health</h1>
          {health.value !== undefined && (
            <p class="muted">
              Version {health.value.version}, up {formatDuration(health.value.uptime_s)}
            </p>
          )}
        </div>
        <Actions reload={health.reload} />
      </div>
      <LoadedView loaded={health}>{(value) => <Components health={value} />}</LoadedView>
      <LoadedView loaded={figures}>
        {(value) => (
          <>
            <Charts samples={value.samples} />
            <Stores figures={value} />
          </>
        )}
      </LoadedView>
    </div>
  )
}

const actions = [
  { tool: 'refresh_registry', label: 'Refresh tool lists' },
  { tool: 'make_backup', label: 'Back up now' },
] as const

function Actions({ reload }: { reload: () => void }) {
  const { server } = useConsole()
  const [outcome, setOutcome] = useState<{ summary?: string; error?: ServerError; runningTool?: string }>({})
  const run = (tool: string): void => {
    setOutcome({ runningTool: tool })
    server.call<{ summary: string }>('causeway', tool, {}).then(
      ({ summary }) => {
        setOutcome({ summary })
        reload()
      },
      (error: unknown) => setOutcome({ error: toServerError(error) }),
    )
  }
  return (
    <div class="stack health-actions">
      <div class="row">
        {actions.map(({ tool, label }) => (
          <button
            key={tool}
            type="button"
            class="button"
            disabled={outcome.runningTool !== undefined}
            onClick={() => run(tool)}
          >
            {outcome.runningTool === tool ? `${label}…` : label}
          </button>
        ))}
      </div>
      {outcome.summary !== undefined && <p role="status">{outcome.summary}</p>}
      {outcome.error !== undefined && <ErrorNotice error={outcome.error} />}
    </div>
  )
}

function Components({ health }: { health: Health }) {
  const { memory, storage, apps } = health
  return (
    <section class="stack" aria-labelledby="parts-title">
      <h2 id="parts-title">Components</h2>
      <div class="card scroll">
        <table>
          <thead>
            <tr>
              <th>Component</th>
              <th>State</th>
              <th>Details</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>Memory</td>
              <td>
                <Chip severity={toSeverity(memory.status)}>{memory.status}</Chip>
              </td>
              <td>
                {formatBytes(memory.used_bytes)} of {formatBytes(memory.limit_bytes)}
              </td>
            </tr>
            <tr>
              <td>Storage</td>
              <td>
                <Chip severity={toSeverity(storage.status)}>{storage.status}</Chip>
              </td>
              <td>{storage.free_bytes === undefined ? '–' : `${formatBytes(storage.free_bytes)} free`}</td>
            </tr>
            {Object.entries(apps).map(([name, state]) => (
              <tr key={name} data-app={name}>
                <td>
                  <bdi>{name}</bdi>
                </td>
                <td>
                  <AppChip state={state} />
                </td>
                <td class="wrap">
                  {state.reason === undefined && state.tools !== undefined && <div>{state.tools} tools</div>}
                  <AppError state={state} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const charts: readonly {
  readonly title: string
  readonly read: (sample: HealthSample) => number
  readonly format: (value: number) => string
}[] = [
  {
    title: 'Event-loop delay',
    read: ({ delay_ms }) => delay_ms,
    format: (value) => `${value.toFixed(1)} ms`,
  },
  {
    title: 'Event loop busy',
    read: ({ busy_percent }) => busy_percent,
    format: (value) => `${value.toFixed(1)} %`,
  },
  { title: 'Memory', read: ({ memory_bytes }) => memory_bytes, format: formatBytes },
  { title: 'Calls in 5 s', read: ({ calls }) => calls, format: formatCount },
]

function Charts({ samples }: { samples: readonly HealthSample[] }) {
  const last = samples.at(-1)
  const first = samples[0]
  return (
    <section class="stack" aria-labelledby="figures-title">
      <div class="row spread">
        <h2 id="figures-title">Figures</h2>
        <span class="muted">
          {last === undefined || first === undefined
            ? 'The first figures arrive 5 s after the start.'
            : `the last ${formatDuration((last.at_ms - first.at_ms) / 1000 + 5)}`}
        </span>
      </div>
      <div class="health-charts">
        {charts.map(({ title, read, format }) => {
          const values = samples.map(read)
          const max = Math.max(0, ...values)
          return (
            <figure class="card stack" key={title}>
              <figcaption>
                <strong>{title}</strong>
              </figcaption>
              <div class="row spread">
                <span class="figure-value">{last === undefined ? '–' : format(read(last))}</span>
                <span class="muted">at most {format(max)}</span>
              </div>
              <Sparkline label={`${title}, at most ${format(max)}`} values={values} />
            </figure>
          )
        })}
      </div>
    </section>
  )
}

const Stores = ({ figures: { stores } }: { figures: Figures }) => (
  <section class="stack" aria-labelledby="stores-title">
    <h2 id="stores-title">Databases</h2>
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            <th>App</th>
            <th>File</th>
            <th class="number">Size</th>
            <th class="number">Write-ahead log</th>
          </tr>
        </thead>
        <tbody>
          {stores.map(({ app, path, size_bytes, wal_bytes }) => (
            <tr key={path}>
              <td>{app}</td>
              <td class="mono">{path}</td>
              <td class="number">{formatBytes(size_bytes)}</td>
              <td class="number">{wal_bytes === 0 ? '–' : formatBytes(wal_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </section>
)
