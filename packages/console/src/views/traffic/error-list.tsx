import type { ErrorGroups } from '../../data/types.ts'
import { formatCount, formatTime } from '../../domain/text.ts'
import { useConsole } from '../../ui/console.ts'
import { Chip, LoadedView, useLoaded } from '../../ui/state.tsx'

interface ErrorListProps {
  readonly show: (filter: string) => void
  readonly suffix: string
}

export function ErrorList({ show, suffix }: ErrorListProps) {
  const { server } = useConsole()
  const groups = useLoaded(
    (signal) => server.get<ErrorGroups>('/api/apps/causeway/calls/errors', { signal }),
    [server.needsToken.value],
    { intervalMs: 5000 },
  )
  return (
    <section class="card stack" aria-labelledby="errors-title">
      <h2 id="errors-title">Errors</h2>
      <LoadedView loaded={groups}>{(value) => <Groups {...{ value, show, suffix }} />}</LoadedView>
    </section>
  )
}

function Groups({ value, show, suffix }: ErrorListProps & { readonly value: ErrorGroups }) {
  if (value.groups.length === 0) return <p class="muted">No stored call failed.</p>
  return (
    <>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Error</th>
              <th>Tool</th>
              <th class="number">Calls</th>
              <th class="number wide-only">Clients</th>
              <th class="wide-only">First (UTC)</th>
              <th>Last (UTC)</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.groups.map(({ code, app, tool, message, count, clients, first, last, request_id }) => (
              <tr key={`${code} ${app} ${tool}`}>
                <td>
                  <Chip severity="err">{code}</Chip> <span class="muted">{message}</span>
                </td>
                <td>
                  <bdi>
                    {app}__{tool}
                  </bdi>
                </td>
                <td class="number">{formatCount(count)}</td>
                <td class="number wide-only">{formatCount(clients)}</td>
                <td class="mono wide-only">{formatTime(first)}</td>
                <td class="mono">{formatTime(last)}</td>
                <td>
                  <div class="row nowrap">
                    <a class="button" href={`/traffic/${encodeURIComponent(request_id)}${suffix}`}>
                      Open the last
                    </a>
                    <button type="button" class="button" onClick={() => show(`code:${code} tool:${tool}`)}>
                      Filter
                    </button>
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted">
        {value.is_complete
          ? `All ${formatCount(value.examined)} failed calls of the audit.`
          : `The last ${formatCount(value.examined)} failed calls of the audit, since ${value.since}.`}
      </p>
    </>
  )
}
