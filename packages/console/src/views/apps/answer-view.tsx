import { useState } from 'preact/hooks'
import type { ContentBlock, ToolResult } from '../../data/server.ts'
import { formatBytes, formatMs } from '../../domain/text.ts'
import { Chip, ErrorNotice } from '../../ui/state.tsx'
import { ValueTree } from '../../ui/value-tree.tsx'

type Tab = 'result' | 'picture' | 'text'

const tabNames: Readonly<Record<Tab, string>> = { result: 'Result', picture: 'Picture', text: 'Text' }

export function ResultView({ answer }: { answer: ToolResult }) {
  const { error, ms, bytes, requestId, structured, content } = answer
  const pictures = content.filter(({ type }) => type === 'image')
  const tabs: readonly Tab[] = [
    ...(pictures.length > 0 ? (['picture'] as const) : []),
    ...(structured === undefined ? [] : (['result'] as const)),
    ...(content.some(({ type }) => type === 'text') ? (['text'] as const) : []),
  ]
  const [chosenTab, setTab] = useState<Tab>()
  const tab = chosenTab !== undefined && tabs.includes(chosenTab) ? chosenTab : tabs[0]
  const { summary, viewer_url } = (structured ?? {}) as {
    readonly summary?: unknown
    readonly viewer_url?: unknown
  }
  return (
    <>
      <div class="row">
        {error === undefined ? <Chip severity="ok">ok</Chip> : <Chip severity="err">{error.code}</Chip>}
        <span class="muted">
          {formatMs(ms)} ms · {formatBytes(bytes)}
        </span>
        {requestId !== '' && <span class="muted mono clip">{requestId}</span>}
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
      {typeof summary === 'string' && <p class="summary">{summary}</p>}
      {typeof viewer_url === 'string' && viewer_url.startsWith(`${location.origin}/`) && (
        <div>
          <a class="button" href={viewer_url}>
            Show what it is about
          </a>
        </div>
      )}
      {tabs.length > 0 && (
        <fieldset class="row" aria-label="Show the answer as">
          {tabs.map((tabName) => (
            <button
              type="button"
              class="button"
              key={tabName}
              aria-pressed={tabName === tab}
              onClick={() => setTab(tabName)}
            >
              {tabNames[tabName]}
            </button>
          ))}
        </fieldset>
      )}
      {tab === 'result' && (
        <div class="card answer">
          <ValueTree value={structured} />
        </div>
      )}
      {tab === 'picture' && pictures.map((picture) => <Picture key={picture.data} picture={picture} />)}
      {tab === 'text' && (
        <div class="card answer">
          {content.map(({ text }) => text !== undefined && <pre key={text}>{formatText(text)}</pre>)}
        </div>
      )}
    </>
  )
}

const Picture = ({ picture: { data = '', mimeType = 'image/png' } }: { picture: ContentBlock }) => (
  <img class="picture" src={`data:${mimeType};base64,${data}`} alt="Answer of the tool" />
)

function formatText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
