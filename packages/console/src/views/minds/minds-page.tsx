import { useState } from 'preact/hooks'
import { formatCount } from '../../domain/text.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'

export interface MindList {
  readonly minds: readonly {
    readonly mind_id: string
    readonly entity_id: string
    readonly status: string
    readonly selector: string
    readonly daily_memories_count: number
    readonly long_term_memory_count: number
    readonly decisions: number
  }[]
  readonly next_after: string | null
}

export function MindsPage() {
  const { server } = useConsole()
  const [filter, setFilter] = useState('')
  const list = useLoaded(
    (signal) => server.call<MindList>('minds', 'list_minds', { limit: 500 }, { signal }),
    [server.needsToken.value],
    { intervalMs: 3000 },
  )
  useShortcuts(() => [
    { keys: 'j', label: 'Go to the next mind', run: () => focusMind(1) },
    { keys: 'k', label: 'Go to the previous mind', run: () => focusMind(-1) },
  ])
  return (
    <div class="page">
      <div class="page-head">
        <h1>Minds</h1>
        <p class="muted">Characters of games, what they remember and why they act.</p>
      </div>
      <LoadedView loaded={list}>
        {({ minds, next_after }) =>
          minds.length === 0 ? (
            <Empty title="No minds yet">
              <p>
                A game creates one with <code>Minds__create_mind</code>.{' '}
                <a href="/apps/minds/create_mind">Try the tool</a>
              </p>
            </Empty>
          ) : (
            <>
              <input
                type="search"
                aria-label="Filter minds"
                placeholder="Filter"
                style={{ maxWidth: '320px' }}
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
              />
              <MindTable minds={minds.filter(({ mind_id }) => mind_id.includes(filter))} />
              {next_after !== null && <p class="muted">The first {minds.length} minds are listed.</p>}
            </>
          )
        }
      </LoadedView>
    </div>
  )
}

function focusMind(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-minds] a')]
  const at = links.indexOf(document.activeElement as HTMLElement)
  links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
}

const MindTable = ({ minds }: { minds: MindList['minds'] }) => (
  <div class="card scroll" data-minds>
    <table>
      <thead>
        <tr>
          <th>Mind</th>
          <th>State</th>
          <th>Decides by</th>
          <th class="number">Decisions</th>
          <th class="number">Memories of the day</th>
          <th class="number">Long-term memories</th>
        </tr>
      </thead>
      <tbody>
        {minds.map((mind) => (
          <tr key={mind.mind_id}>
            <td>
              <a href={`/minds/${encodeURIComponent(mind.mind_id)}`}>
                <bdi>{mind.mind_id}</bdi>
              </a>
            </td>
            <td>
              <Chip severity={mind.status === 'active' ? 'ok' : 'off'}>{mind.status}</Chip>
            </td>
            <td>{mind.selector === 'llm' ? 'language model' : mind.selector}</td>
            <td class="number">{formatCount(mind.decisions)}</td>
            <td class="number">{formatCount(mind.daily_memories_count)}</td>
            <td class="number">{formatCount(mind.long_term_memory_count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
