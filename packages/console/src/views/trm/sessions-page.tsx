import { formatNumber } from '../../domain/text.ts'
import { listSessions, sessionSeverities, type TrmSession } from '../../domain/trm.ts'
import { useConsole } from '../../ui/console.ts'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'

export function TrmSessionsPage() {
  const { server } = useConsole()
  const list = useLoaded((signal) => server.listResources('trm', { signal }), [server.needsToken.value], {
    intervalMs: 5000,
  })
  return (
    <div class="page">
      <div class="page-head">
        <h1>TRM</h1>
        <p class="muted">Sessions in which an agent improves code step by step, each with a score.</p>
      </div>
      <LoadedView loaded={list}>
        {(resources) => {
          const sessions = listSessions(resources)
          return sessions.length === 0 ? <NoSessions /> : <Sessions sessions={sessions} />
        }}
      </LoadedView>
    </div>
  )
}

const NoSessions = () => (
  <Empty title="No open sessions">
    <p>
      An agent starts one with <code>Trm__start</code>. Allow its project with CAUSEWAY_TRM_ROOTS.
    </p>
    <p>
      <a href="/apps/trm/start">Try the tool</a>
    </p>
  </Empty>
)

/** Maximum number of sessions whose state is loaded. */
const maxLoadedSessions = 20

function SessionState({ session }: { session: string }) {
  const { server } = useConsole()
  const { value } = useLoaded(
    (signal) => server.read<TrmSession>('trm', `trm://sessions/${encodeURIComponent(session)}`, { signal }),
    [session, server.needsToken.value],
    { intervalMs: 5000 },
  )
  if (value === undefined) return null
  const { status, standing, config, steps, last } = value
  return (
    <>
      <td>
        <span class="row">
          <Chip severity={sessionSeverities[status] ?? 'off'}>{status}</Chip>
          {status === 'halted' && <bdi class="muted">{last?.reasons[0]?.slice(0, 100)}</bdi>}
        </span>
      </td>
      <td class="number">
        {standing.step} of {config.halt.max}
      </td>
      <td class="number">{steps.length === 0 ? '–' : formatNumber(standing.best_score)}</td>
    </>
  )
}

const Sessions = ({ sessions }: { sessions: ReturnType<typeof listSessions> }) => (
  <div class="card scroll">
    <table>
      <thead>
        <tr>
          <th>Session</th>
          <th>Project</th>
          <th>State</th>
          <th class="number">Steps</th>
          <th class="number">Best score</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ id, project }, index) => (
          <tr key={id}>
            <td>
              <a class="mono" href={`/trm/${encodeURIComponent(id)}`}>
                {id}
              </a>
            </td>
            <td>
              <bdi>{project}</bdi>
            </td>
            {index < maxLoadedSessions && <SessionState session={id} />}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
