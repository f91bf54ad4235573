import '../styles/tokens.css'
import '../styles/base.css'
import './widget.css'
import { effect, signal } from '@preact/signals'
import { type ComponentChild, render } from 'preact'
import { AppConnection, type AppResult } from '../data/app-connection.ts'
import { ServerError } from '../data/server.ts'
import { ThemeVersion } from '../ui/canvas-colors.ts'
import { ErrorNotice } from '../ui/state.tsx'

export interface WidgetProps {
  readonly app: AppConnection
  readonly args: Readonly<Record<string, unknown>>
  readonly data: Readonly<Record<string, unknown>>
}

/** CSS variables of hosts that replace variables of this page. Colours of lines and states are not replaced. */
const variables = {
  '--color-background-primary': '--bg',
  '--color-text-primary': '--fg',
  '--font-sans': '--font',
  '--border-radius-md': '--radius',
} as const

/** Shows the result of a tool in an MCP App, in the theme of its host. */
export function openWidget(name: string, View: (props: WidgetProps) => ComponentChild): void {
  const app = new AppConnection(parent, name)
  const themeVersion = signal(0)
  effect(() => {
    const { theme, styles } = app.context.value
    const { dataset, style } = document.documentElement
    if (theme === 'light' || theme === 'dark') dataset.theme = theme
    for (const [hostVariable, pageVariable] of Object.entries(variables)) {
      const value = styles?.variables?.[hostVariable]
      if (value !== undefined) style.setProperty(pageVariable, value)
    }
    themeVersion.value = themeVersion.peek() + 1
  })
  const root = document.body
  render(
    <ThemeVersion.Provider value={themeVersion}>
      <Content app={app} View={View} />
    </ThemeVersion.Provider>,
    root,
  )
  new ResizeObserver(() => app.setHeight(Math.ceil(root.getBoundingClientRect().height))).observe(root)
}

function Content({ app, View }: { app: AppConnection; View: (props: WidgetProps) => ComponentChild }) {
  const result = app.result.value
  if (result === undefined)
    return <p class="muted">{app.cancelled.value ? 'The call was cancelled.' : 'Waiting for the result…'}</p>
  if (result.isError === true) return <ErrorNotice error={toError(result)} />
  return <View app={app} args={app.arguments.value ?? {}} data={result.structuredContent ?? {}} />
}

function toError({ content = [] }: AppResult): ServerError {
  const [, code = 'CALL_FAILED', message = ''] =
    /^([A-Z][A-Z_]+): (.*)$/s.exec(content.find(({ text }) => text !== undefined)?.text ?? '') ?? []
  return new ServerError({ code, message })
}

export function WidgetActions({
  app,
  question,
  url,
}: {
  app: AppConnection
  question: string
  url: string | undefined
}) {
  const { message, openLinks } = app.capabilities.value
  return (
    <div class="row">
      {message !== undefined && (
        <button type="button" class="button" onClick={() => app.ask(question)}>
          Ask about this
        </button>
      )}
      {openLinks !== undefined && url !== undefined && (
        <button type="button" class="button" onClick={() => app.openLink(url)}>
          Open in the console
        </button>
      )}
    </div>
  )
}

/** Returns the address of the console page for a frame. */
export function toFrameUrl({ viewer_url: url }: WidgetProps['data'], frame: number): string | undefined {
  if (typeof url !== 'string') return undefined
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined
  const hash = new URLSearchParams(target.hash.slice(1))
  hash.set('frame', String(frame))
  target.hash = hash.toString()
  return target.href
}
