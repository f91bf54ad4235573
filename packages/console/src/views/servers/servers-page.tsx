import '../pages.css'
import type { HostedServer, HostedServers } from '../../data/types.ts'
import { formatBytes, formatCount } from '../../domain/text.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'
import { ServerDetails } from './server-details.tsx'
import { describeState, sumMemory } from './server-state.ts'

export function ServersPage({ parts }: { parts: PathParts }) {
  const { server } = useConsole()
  const hosted = useLoaded(
    (signal) => server.get<HostedServers>('/api/hosted', { signal }),
    [server.needsToken.value],
    { intervalMs: 3000 },
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>Hosted servers</h1>
        <p class="muted">MCP servers that Causeway runs once, for all clients.</p>
      </div>
      <LoadedView loaded={hosted}>
        {(value) => <Servers value={value} chosenName={parts.server} />}
      </LoadedView>
    </div>
  )
}

function Servers({
  value: { servers: unsortedServers, problems },
  chosenName,
}: {
  value: HostedServers
  chosenName?: string | undefined
}) {
  const servers = unsortedServers.toSorted((a, b) => a.name.localeCompare(b.name))
  const selectedServer =
    chosenName === undefined ? (servers.find(needsAttention) ?? servers[0]) : findByName(servers, chosenName)
  return (
    <>
      {problems.map(({ name, message }) => (
        <div class="notice err" role="alert" key={name ?? ''}>
          <span>
            {name === undefined && 'mcp.json is not used, and the last valid one remains: '}
            <ForeignText text={message} max={300} />
          </span>
        </div>
      ))}
      {servers.length === 0 ? (
        <NoServers />
      ) : (
        <>
          <ServerTable servers={servers} selectedServer={selectedServer?.name} />
          {selectedServer === undefined ? (
            <Empty title="mcp.json has no server with this name">
              <p>Choose one from the table.</p>
            </Empty>
          ) : (
            <ServerDetails key={selectedServer.name} hosted={selectedServer} />
          )}
        </>
      )}
    </>
  )
}

const findByName = (servers: readonly HostedServer[], name: string): HostedServer | undefined =>
  servers.find((server) => server.name === name)

const needsAttention = ({ state, changed, last_error }: HostedServer): boolean =>
  changed > 0 || last_error !== undefined || /^(down|needs_)/.test(state)

const NoServers = () => (
  <Empty title="No server is hosted yet">
    <p>Import the MCP servers that your clients already have. Their files are not changed:</p>
    <pre>causeway mcp import</pre>
    <p>Or add one:</p>
    <pre>causeway mcp add memory -- npx -y @modelcontextprotocol/server-memory@2026.8.31</pre>
    <p>
      In a checkout, replace <code>causeway</code> with <code>npm start -s --</code>.
    </p>
    <p>Servers are added by command only, so that no web page and no model can start programs.</p>
  </Empty>
)

function ServerTable({
  servers,
  selectedServer,
}: {
  servers: readonly HostedServer[]
  selectedServer: string | undefined
}) {
  return (
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            <th>Server</th>
            <th>State</th>
            <th>Shared by</th>
            <th>Transport</th>
            <th class="number">Processes</th>
            <th class="number">Memory</th>
            <th class="number">Tools</th>
            <th class="number">Calls</th>
            <th class="number">Errors</th>
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <tr key={server.name}>
              <td class="wrap">
                <a
                  href={`/servers/${encodeURIComponent(server.name)}`}
                  {...(server.name === selectedServer ? { 'aria-current': 'true' } : {})}
                >
                  <ForeignText text={server.name} />
                </a>
              </td>
              <td>
                <StateChips hosted={server} />
              </td>
              <td>{server.share === 'shared' ? 'all' : `one ${server.share}`}</td>
              <td>{server.kind}</td>
              <td class="number">{server.instances.filter(({ pid }) => pid !== undefined).length}</td>
              <td class="number">{formatMemory(server)}</td>
              <td class="number">{formatCount(server.tools)}</td>
              <td class="number">{formatCount(server.calls)}</td>
              <td class="number">
                {server.errors === 0 ? '0' : <Chip severity="err">{formatCount(server.errors)}</Chip>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function StateChips({ hosted: { state, changed, last_error } }: { hosted: HostedServer }) {
  const { severity, word } = describeState(state)
  return (
    <span class="row">
      <Chip severity={severity}>{word}</Chip>
      {state === 'idle' && last_error !== undefined && <Chip severity="err">failed</Chip>}
      {changed > 0 && <Chip severity="warn">{changed} changed</Chip>}
    </span>
  )
}

function formatMemory(hosted: HostedServer): string {
  const bytes = sumMemory(hosted)
  return bytes === undefined ? '–' : formatBytes(bytes)
}
