import { useState } from 'preact/hooks'
import type { DefinitionChange, HostedServer } from '../../data/types.ts'
import { quote } from '../../domain/commands.ts'
import { diffDefinitions, showInvisible } from '../../domain/definition-diff.ts'
import { formatBytes, formatDuration } from '../../domain/text.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { LoadedView, useLoaded } from '../../ui/state.tsx'
import { describeState } from './server-state.ts'

export function ServerDetails({ hosted }: { hosted: HostedServer }) {
  const { state, changed, last_error: error } = hosted
  const { meaning, remedy } = describeState(state)
  const name = quote(hosted.name)
  return (
    <section class="card stack" aria-labelledby="server-title">
      <h2 id="server-title" class="wrap">
        <ForeignText text={hosted.name} />
      </h2>
      <p class="muted">{meaning}</p>
      {remedy !== undefined && <pre>{remedy(name)}</pre>}
      <Offers hosted={hosted} />
      {error !== undefined && (
        <div class="notice err">
          <div class="stack">
            <strong>
              Last error: <code>{error.code}</code>
            </strong>
            <ForeignText text={error.message} max={1000} />
            {toLines(error.stderr).length > 0 && <Lines lines={toLines(error.stderr)} />}
          </div>
        </div>
      )}
      <Processes hosted={hosted} />
      {changed > 0 && <Changes name={hosted.name} changed={changed} />}
      <Log name={hosted.name} />
      <details>
        <summary>Commands</summary>
        <pre>
          {['show', 'tools', 'logs', 'restart', 'disable', 'remove']
            .map((command) => `causeway mcp ${command} ${name}`)
            .join('\n')}
        </pre>
      </details>
    </section>
  )
}

function Offers({ hosted }: { hosted: HostedServer }) {
  const { app, tools, prompts, resources, templates, starts, protocol_version } = hosted
  const facts = [
    ['Tools', tools],
    ['Prompts', prompts],
    ['Resources', resources + templates],
    ['Starts', starts],
    ['Protocol', protocol_version ?? 'not known yet'],
  ] as const
  return (
    <dl class="server-facts">
      <div>
        <dt class="muted">App</dt>
        <dd class="wrap">
          <a href={`/apps/${encodeURIComponent(app.toLowerCase())}`}>{app}</a>
        </dd>
      </div>
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt class="muted">{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Processes({ hosted: { instances, kind } }: { hosted: HostedServer }) {
  if (instances.length === 0) return null
  return (
    <div class="stack">
      <h3>{kind === 'stdio' ? 'Processes' : 'Sessions'}</h3>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>State</th>
              <th>Since</th>
              <th>Project</th>
              <th class="number">Process id</th>
              <th class="number">Memory</th>
              <th class="number">Calls in flight</th>
            </tr>
          </thead>
          <tbody>
            {instances.map((instance, index) => (
              <tr key={index}>
                <td>{describeState(instance.state).word}</td>
                <td>{formatDuration(instance.for_ms / 1000)}</td>
                <td class="wrap">
                  {instance.project === undefined ? (
                    '–'
                  ) : (
                    <ForeignText text={instance.project.split(/[\\/]/).at(-1) ?? ''} />
                  )}
                </td>
                <td class="number">{instance.pid ?? '–'}</td>
                <td class="number">
                  {instance.memory_bytes === undefined ? '–' : formatBytes(instance.memory_bytes)}
                </td>
                <td class="number">{instance.in_flight}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** Shows changed definitions that a person must compare before models can use them. */
function Changes({ name, changed }: { name: string; changed: number }) {
  const { server } = useConsole()
  const changes = useLoaded(
    async (signal) =>
      (
        await server.get<{ changes: readonly DefinitionChange[] }>(
          `/api/hosted/${encodeURIComponent(name)}/changes`,
          { signal },
        )
      ).changes,
    [name, changed, server.needsToken.value],
  )
  return (
    <div class="stack" data-changes>
      <h3>
        {changed === 1 ? '1 definition differs' : `${changed} definitions differ`} from what you approved
      </h3>
      <p class="muted">
        A server that changes what models read can give them new instructions. Control characters are shown as
        escapes. If you trust the change, approve it:
      </p>
      <pre>{`causeway mcp approve ${quote(name)}`}</pre>
      <LoadedView loaded={changes}>
        {(list) =>
          list.map((change) => (
            <details key={`${change.kind} ${change.name}`} open={list.length <= 5}>
              <summary class="wrap">
                {change.approved === undefined ? 'New' : 'Changed'} {change.kind}{' '}
                <ForeignText text={change.name} />
              </summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
              <pre class="diff" tabIndex={0}>
                {diffDefinitions(change.approved, change.current).map(({ kind, text }, index) => (
                  <span key={index} class={kind}>
                    {marks[kind]} {text}
                  </span>
                ))}
              </pre>
            </details>
          ))
        }
      </LoadedView>
    </div>
  )
}

const marks = { added: '+', removed: '-', same: ' ', hunk: '@' } as const

function Log({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Log of the running processes</summary>
      {isOpen && <LogLines name={name} />}
    </details>
  )
}

function LogLines({ name }: { name: string }) {
  const { server } = useConsole()
  const log = useLoaded(
    (signal) =>
      server.get<{ lines: readonly string[] }>(`/api/hosted/${encodeURIComponent(name)}/logs`, { signal }),
    [name, server.needsToken.value],
    { intervalMs: 3000 },
  )
  return (
    <LoadedView loaded={log}>
      {({ lines }) =>
        lines.length === 0 ? (
          <p class="muted">The running processes wrote nothing to stderr.</p>
        ) : (
          <Lines lines={lines} />
        )
      }
    </LoadedView>
  )
}

const Lines = ({ lines }: { lines: readonly string[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
  <pre class="diff" tabIndex={0}>
    {lines.map((line, index) => (
      <span key={index}>{showInvisible(line)}</span>
    ))}
  </pre>
)

const toLines = (stderr: unknown): readonly string[] =>
  Array.isArray(stderr) ? stderr.map(String) : typeof stderr === 'string' ? stderr.split('\n') : []
