import { useMemo, useRef, useState } from 'preact/hooks'
import type { AppDetails, AppSummary } from '../../data/types.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { DescriptionText, ForeignText } from '../../ui/foreign-text.tsx'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Empty, LoadedView, useLoaded } from '../../ui/state.tsx'
import './apps.css'
import { ToolPanel } from './tool-panel.tsx'

export function AppsPage({ parts }: { parts: PathParts }) {
  const { server } = useConsole()
  const apps = useLoaded(
    (signal) => server.get<{ apps: readonly AppSummary[] }>('/api/apps', { signal }),
    [server.needsToken.value],
  )
  return (
    <div class="page wide">
      <LoadedView loaded={apps}>
        {(value) => (
          <div class="workbench">
            <ToolList apps={value.apps} parts={parts} />
            <ChosenTool parts={parts} apps={value.apps} />
          </div>
        )}
      </LoadedView>
    </div>
  )
}

const toPath = ({ href }: AppSummary): string => href.split('/').at(-1) ?? ''

function ToolList({ apps, parts }: { apps: readonly AppSummary[]; parts: PathParts }) {
  const [filter, setFilter] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useShortcuts(() => [{ keys: '/', label: 'Filter the tools', run: () => input.current?.focus() }])
  const words = filter.toLowerCase().split(/\s+/)
  const matchingTools = useMemo(
    () =>
      apps
        .map((app) => ({
          app,
          tools: app.tools.filter(({ name, about }) => {
            const text = `${app.name}__${name} ${about}`.toLowerCase()
            return words.every((word) => text.includes(word))
          }),
        }))
        .filter(({ tools }) => tools.length > 0),
    [apps, filter],
  )
  return (
    <section class="tool-list stack" aria-labelledby="tools-title">
      <h1 id="tools-title">Apps and tools</h1>
      <input
        ref={input}
        type="search"
        aria-label="Filter the tools"
        placeholder="Filter tools ( / )"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <p class="muted" role="status">
        {countTools(matchingTools.flatMap(({ tools }) => tools))}
      </p>
      {matchingTools.map(({ app, tools }) => (
        <details key={app.name} open={filter !== '' || parts.app === toPath(app)}>
          <summary>
            {app.name} <span class="muted">{tools.length - countUnlisted(tools)}</span>
          </summary>
          <ul>
            {tools.map(({ name, unlisted }) => {
              const path = `/apps/${toPath(app)}/${name}`
              const isCurrent = parts.app === toPath(app) && parts.tool === name
              return (
                <li key={name}>
                  <a href={path} {...(isCurrent ? { 'aria-current': 'page' } : {})}>
                    {name}
                    {unlisted && <span class="muted"> unlisted</span>}
                  </a>
                </li>
              )
            })}
          </ul>
        </details>
      ))}
      {matchingTools.length === 0 && <p class="muted">No tool matches.</p>}
    </section>
  )
}

function ChosenTool({ parts, apps }: { parts: PathParts; apps: readonly AppSummary[] }) {
  const { app: path, tool: name } = parts
  if (path === undefined) return <Introduction apps={apps} />
  return <AppTools key={path} path={path} name={name} />
}

function AppTools({ path, name }: { path: string; name: string | undefined }) {
  const { server } = useConsole()
  const app = useLoaded(
    (signal) => server.get<AppDetails>(`/api/apps/${encodeURIComponent(path)}`, { signal }),
    [path, server.needsToken.value],
  )
  return (
    <LoadedView loaded={app}>
      {(details) => {
        if (name === undefined) return <AppIntroduction app={details} path={path} />
        const tool = details.tools.find((candidate) => candidate.name === name)
        return tool === undefined ? (
          <Empty title={`${details.name} has no tool ${name}`}>
            <p>Choose one from the list. The app may have been changed since the page was opened.</p>
          </Empty>
        ) : (
          <ToolPanel key={name} app={details} path={path} tool={tool} />
        )
      }}
    </LoadedView>
  )
}

const countUnlisted = (tools: AppSummary['tools']): number => tools.filter(({ unlisted }) => unlisted).length

function countTools(tools: AppSummary['tools']): string {
  const unlisted = countUnlisted(tools)
  return `${tools.length - unlisted} tools${unlisted === 0 ? '' : `, ${unlisted} more that clients do not list`}`
}

const Introduction = ({ apps }: { apps: readonly AppSummary[] }) => (
  <div class="cards">
    {apps.map((app) => (
      <a class="card stack" key={app.name} href={`/apps/${toPath(app)}`}>
        <h2>{app.name}</h2>
        <p class="muted wrap">
          <ForeignText text={app.about} max={300} />
        </p>
        <span class="muted">{countTools(app.tools)}</span>
      </a>
    ))}
  </div>
)

const AppIntroduction = ({ app, path }: { app: AppDetails; path: string }) => (
  <div class="stack">
    <div class="page-head">
      <h2>{app.name}</h2>
      <p class="muted wrap">
        <ForeignText text={app.about} max={1500} />
      </p>
      <p>
        MCP endpoint of this app alone: <code>{`${location.origin}${app.mcp}`}</code>
      </p>
    </div>
    <div class="card scroll">
      <table>
        <tbody>
          {app.tools.map((tool) => (
            <tr key={tool.name}>
              <td>
                <a href={`/apps/${path}/${tool.name}`}>{tool.name}</a>
              </td>
              <td class="wrap">
                <DescriptionText text={tool.about} max={500} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </div>
)
