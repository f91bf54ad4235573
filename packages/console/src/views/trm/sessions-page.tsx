import { useConsole } from '../../ui/console.ts'
import { Empty, LoadedView, useLoaded } from '../../ui/state.tsx'

/** The refinement sessions, newest first. */
export function TrmSessionsPage() {
  const { server } = useConsole()
  const list = useLoaded((signal) => server.listResources('trm', { signal }), [server.needsToken.value], {
    everyMs: 5000,
  })
  return (
    <div class="page">
      <div class="page-head">
        <h1>TRM</h1>
        <p class="muted">Sessions in which an agent improves code step by step, each with a score.</p>
      </div>
      <LoadedView loaded={list}>
        {(resources) => {
          const sessions = resources.flatMap(({ uri, name }) => {
            const [, id] = /^trm:\/\/sessions\/([^/]+)$/.exec(uri) ?? []
            return id === undefined ? [] : [{ id, project: name.replace(` ${id}`, '') }]
          })
          return sessions.length === 0 ? <NoSessions /> : <Sessions sessions={sessions} />
        }}
      </LoadedView>
    </div>
  )
}

const NoSessions = () => (
  <Empty title="No sessions yet">
    <p>
      An agent starts one with <code>Trm__start</code>. Allow its project with CAUSEWAY_TRM_ROOTS.
    </p>
    <p>
      <a href="/apps/trm/start">Try the tool</a>
    </p>
  </Empty>
)

const Sessions = ({
  sessions,
}: {
  sessions: readonly { readonly id: string; readonly project: string }[]
}) => (
  <div class="card scroll">
    <table>
      <thead>
        <tr>
          <th>Session</th>
          <th>Project</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ id, project }) => (
          <tr key={id}>
            <td>
              <a class="mono" href={`/trm/${encodeURIComponent(id)}`}>
                {id}
              </a>
            </td>
            <td>
              <bdi>{project.split(/[\\/]/).at(-1)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
