import { formatClient } from '@causeway/protocol/call-filter'
import type { AppState, AppSummary, AuditPage, Health } from '../data/types.ts'
import { summarizeClients } from '../domain/clients.ts'
import { formatBytes, formatCount, formatDuration, formatMs, formatTime } from '../domain/text.ts'
import { useConsole } from '../ui/console.ts'
import { ForeignText } from '../ui/foreign-text.tsx'
import { Chip, Empty, LoadedView, useLoaded } from '../ui/state.tsx'
import { AppChip, AppError, describeApp } from './servers/app-state.tsx'

/** Number of calls from which the lists of clients and calls are made. */
const recentCalls = 200

export function Overview() {
  const { server } = useConsole()
  const access = server.needsToken.value
  const health = useLoaded((signal) => server.get<Health>('/health', { signal }), [access], {
    intervalMs: 5000,
  })
  const apps = useLoaded(
    (signal) => server.get<{ apps: readonly AppSummary[] }>('/api/apps', { signal }),
    [access],
    { version: health.value?.version },
  )
  const calls = useLoaded(
    (signal) => server.get<AuditPage>(`/api/apps/causeway/audit?limit=${recentCalls}`, { signal }),
    [access],
    { intervalMs: 5000 },
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <p class="muted">One MCP server that all clients of this machine share.</p>
      </div>
      <LoadedView loaded={health}>{(value) => <Figures health={value} />}</LoadedView>
      <details>
        <summary>Connect a client</summary>
        <div class="stack connect">
          <p>Add this address to a client that uses HTTP:</p>
          <pre>{`${location.origin}/mcp`}</pre>
          <p>In Claude Code, run:</p>
          <pre>{addCommand()}</pre>
          <p>
            <a href="/help#q=connect%20a%20client">Other clients</a>
          </p>
        </div>
      </details>
      <section class="stack" aria-labelledby="apps-title">
        <h2 id="apps-title">Apps</h2>
        <LoadedView loaded={apps}>
          {(value) => (
            <div class="cards">
              {value.apps.map((app) => (
                <AppCard key={app.name} app={app} state={health.value?.apps[app.name]} />
              ))}
            </div>
          )}
        </LoadedView>
      </section>
      <LoadedView loaded={calls}>{(value) => <Activity page={value} />}</LoadedView>
    </div>
  )
}

const addCommand = (): string => `claude mcp add --transport http causeway ${location.origin}/mcp`

function Figures({ health }: { health: Health }) {
  const states = Object.values(health.apps)
  const healthy = states.filter((state) => /ok|off/.test(describeApp(state).severity)).length
  const figures = [
    ['Server', health.status === 'ok' ? 'Healthy' : 'Degraded', `version ${health.version}`],
    ['Apps', `${healthy} of ${states.length}`, 'healthy'],
    ['Up', formatDuration(health.uptime_s), 'since the last start'],
    ['Memory', formatBytes(health.memory.used_bytes), `of ${formatBytes(health.memory.limit_bytes)}`],
    [
      'Disk',
      health.storage.free_bytes === undefined
        ? health.storage.status
        : formatBytes(health.storage.free_bytes),
      'free',
    ],
  ]
  return (
    <dl class="figures">
      {figures.map(([name, value, detail]) => (
        <div class="card" key={name}>
          <dt class="muted">{name}</dt>
          <dd class="figure-value">{value}</dd>
          <dd class="muted">{detail}</dd>
        </div>
      ))}
    </dl>
  )
}

const AppCard = ({ app, state }: { app: AppSummary; state: AppState | undefined }) => (
  <a class="card stack" href={app.href.replace('/api', '')}>
    <div class="row spread">
      <h3>{app.name}</h3>
      {state !== undefined && <AppChip state={state} />}
    </div>
    <p class="muted wrap">
      <ForeignText text={app.about} max={300} />
    </p>
    {state !== undefined && (
      <div>
        <AppError state={state} />
      </div>
    )}
    <span class="muted">{state?.tools ?? app.tools.length} tools</span>
  </a>
)

function Activity({ page: { entries } }: { page: AuditPage }) {
  if (entries.length === 0)
    return (
      <Empty title="No calls yet">
        <p>Connect a client to one server for all of them:</p>
        <pre>{addCommand()}</pre>
      </Empty>
    )
  const isPartial = entries.length === recentCalls
  return (
    <div class="columns">
      <section class="stack" aria-labelledby="calls-title">
        <h2 id="calls-title">Last calls</h2>
        <div class="card scroll">
          <table>
            <thead>
              <tr>
                <th>Time (UTC)</th>
                <th>Tool</th>
                <th>Client</th>
                <th class="number">ms</th>
                <th>Result</th>
              </tr>
            </thead>
            <tbody>
              {entries.slice(0, 10).map(({ timestamp, toolName, duration, error, metadata }) => (
                <tr key={metadata.request_id}>
                  <td class="mono">{formatTime(timestamp)}</td>
                  <td>
                    {metadata.app}__{toolName}
                  </td>
                  <td class="wrap">
                    <ForeignText text={formatClient(metadata.client)} max={60} />
                  </td>
                  <td class="number">{formatMs(duration)}</td>
                  <td>
                    {error === undefined ? (
                      <Chip severity="ok">ok</Chip>
                    ) : (
                      <Chip severity="err">{error.code}</Chip>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section class="stack" aria-labelledby="clients-title">
        <h2 id="clients-title">Clients</h2>
        <div class="card scroll">
          <table>
            <thead>
              <tr>
                <th>Client</th>
                <th class="number">Calls</th>
                <th class="number">Errors</th>
                <th>Last call</th>
              </tr>
            </thead>
            <tbody>
              {summarizeClients(entries).map(({ client, version, calls, errors, last, sessions }) => (
                <tr key={`${client} ${version}`}>
                  <td>
                    <ForeignText text={client} max={60} /> <span class="muted">{version.slice(0, 40)}</span>
                    {sessions > 1 && <span class="muted"> · {sessions} sessions</span>}
                  </td>
                  <td class="number">{formatCount(calls)}</td>
                  <td class="number">{formatCount(errors)}</td>
                  <td class="mono">{formatTime(last)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {isPartial && <p class="muted">Counted over the last {recentCalls} calls.</p>}
      </section>
    </div>
  )
}
