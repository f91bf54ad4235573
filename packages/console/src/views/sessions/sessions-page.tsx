import { formatClient } from '@causeway/protocol/call-filter'
import { useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../../data/server.ts'
import type { SessionList } from '../../data/types.ts'
import { formatCount, formatDuration, formatTime } from '../../domain/text.ts'
import { CaptureButton } from '../../ui/capture.tsx'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Chip, Empty, ErrorNotice, LoadedView, useLoaded } from '../../ui/state.tsx'

export function SessionsPage() {
  const { server } = useConsole()
  const sessions = useLoaded(
    (signal) => server.get<SessionList>('/api/apps/causeway/sessions', { signal }),
    [server.needsToken.value],
    { intervalMs: 5000 },
  )
  const [failure, setFailure] = useState<ServerError>()
  const end = (session: string): void => {
    server.delete(`/api/apps/causeway/sessions/${encodeURIComponent(session)}`).then(
      () => {
        setFailure(undefined)
        sessions.reload()
      },
      (error: unknown) => setFailure(toServerError(error)),
    )
  }
  return (
    <div class="page">
      <div class="page-head">
        <h1>Sessions</h1>
        <p class="muted">
          The clients that called tools since the server started, and the open MCP sessions.
        </p>
      </div>
      {failure !== undefined && <ErrorNotice error={failure} />}
      <LoadedView loaded={sessions}>
        {(value) => (
          <>
            <CallingSessions list={value} />
            <OpenSessions list={value} end={end} />
          </>
        )}
      </LoadedView>
    </div>
  )
}

function CallingSessions({ list: { sessions, open } }: { list: SessionList }) {
  if (sessions.length === 0)
    return (
      <Empty title="No session called a tool yet">
        <p>Connect a client:</p>
        <pre>{`claude mcp add --transport http causeway ${location.origin}/mcp`}</pre>
      </Empty>
    )
  const isOpen = new Set(open.map(({ session }) => session))
  return (
    <section class="stack" aria-labelledby="calling-title">
      <h2 id="calling-title">Sessions with calls</h2>
      <div class="card scroll">
        <table>
          <thead>
            <tr>
              <th>Client</th>
              <th>Session</th>
              <th>Channel</th>
              <th class="number">Calls</th>
              <th class="number">Errors</th>
              <th>Last tool</th>
              <th>Last call (UTC)</th>
              <th>Active for</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sessions.map((session) => (
              <tr key={session.session}>
                <td class="wrap">
                  <ForeignText text={formatClient(session.client)} />{' '}
                  <span class="muted">{session.client_version.slice(0, 40)}</span>
                </td>
                <td>
                  <a
                    class="mono"
                    href={`/traffic#filter=${encodeURIComponent(`session:${session.session}`)}`}
                  >
                    {session.session}
                  </a>
                </td>
                <td>
                  {session.channel} {isOpen.has(session.session) && <Chip severity="ok">open</Chip>}
                </td>
                <td class="number">{formatCount(session.calls)}</td>
                <td class="number">
                  {session.errors === 0 ? '0' : <Chip severity="err">{formatCount(session.errors)}</Chip>}
                </td>
                <td class="wrap">
                  <bdi>{session.last_tool}</bdi>
                </td>
                <td class="mono">{formatTime(new Date(session.last_ms).toISOString())}</td>
                <td>{formatDuration((session.last_ms - session.first_ms) / 1000)}</td>
                <td class="number">
                  <CaptureButton session={session.session} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function OpenSessions({ list: { open }, end }: { list: SessionList; end: (session: string) => void }) {
  return (
    <section class="stack" aria-labelledby="open-title">
      <h2 id="open-title">Open MCP sessions</h2>
      {open.length === 0 ? (
        <p class="muted">
          No client has an open session. Clients of MCP 2026-07-28 and plain HTTP need none.
        </p>
      ) : (
        <div class="card scroll">
          <table>
            <thead>
              <tr>
                <th>Client</th>
                <th>Session</th>
                <th>Protocol</th>
                <th>Endpoint</th>
                <th class="number">Streams</th>
                <th>
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {open.map((session) => (
                <tr key={session.session}>
                  <td class="wrap">
                    <ForeignText text={session.client} />{' '}
                    <span class="muted">{session.client_version.slice(0, 40)}</span>
                  </td>
                  <td class="mono">{session.session}</td>
                  <td>{session.protocol_version}</td>
                  <td>
                    <code>{session.mount}</code>
                  </td>
                  <td class="number">{session.open_streams}</td>
                  <td class="number">
                    <EndButton end={() => end(session.session)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** Ends a session after a second click, because its client must then connect again. */
function EndButton({ end }: { end: () => void }) {
  const [isAsking, setAsking] = useState(false)
  return isAsking ? (
    <button type="button" class="button danger" onClick={end} onBlur={() => setAsking(false)}>
      End it now
    </button>
  ) : (
    <button type="button" class="button" onClick={() => setAsking(true)}>
      End session
    </button>
  )
}
