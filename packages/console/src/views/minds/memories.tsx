import { useState } from 'preact/hooks'
import { formatGameTime } from '../../domain/minds.ts'
import { formatNumber } from '../../domain/text.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { Chip, LoadedView, useLoaded } from '../../ui/state.tsx'

interface Memory {
  readonly id: string
  readonly content: string
  readonly importance: number
  /** Game minutes. */
  readonly timestamp: number | null
  readonly kind?: string
  readonly score?: number
  readonly relevance?: number
  readonly superseded?: boolean
}

export function Memories({ mind }: { mind: string }) {
  const { server } = useConsole()
  const [text, setText] = useState('')
  const [query, setQuery] = useState('')
  const access = server.needsToken.value
  useShortcuts(() => [
    { keys: '/', label: 'Search the memories', run: () => document.getElementById('memory-query')?.focus() },
  ])
  const memories = useLoaded(
    (signal): Promise<readonly Memory[]> =>
      query === ''
        ? server.read<readonly Memory[]>('minds', `mind://${encodeURIComponent(mind)}/memories`, { signal })
        : server
            .call<{ memories: readonly Memory[] }>(
              'minds',
              'recall_memories',
              { mind_id: mind, query, k: 20 },
              { signal },
            )
            .then((result) => result.memories),
    [mind, query, access],
  )
  return (
    <section class="stack" aria-labelledby="memories-title">
      <h2 id="memories-title">Memories</h2>
      <form
        class="search-bar"
        onSubmit={(event) => {
          event.preventDefault()
          setQuery(text.trim())
        }}
      >
        <input
          id="memory-query"
          type="search"
          aria-label="Ask what the mind remembers"
          placeholder="Who owns the mill?"
          maxLength={2000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button primary">
          Recall
        </button>
      </form>
      <LoadedView loaded={memories}>{(result) => <MemoryTable memories={result} query={query} />}</LoadedView>
    </section>
  )
}

function MemoryTable({ memories, query }: { memories: readonly Memory[]; query: string }) {
  if (memories.length === 0)
    return (
      <p class="muted">{query === '' ? 'No long-term memories yet.' : 'No memory answers this question.'}</p>
    )
  return (
    <>
      <p class="muted">
        {query === ''
          ? `The newest ${memories.length} long-term memories.`
          : `${memories.length} recalled, best first.`}
      </p>
      <div class="card scroll">
        <table>
          <thead>
            <tr>
              <th>Memory</th>
              <th class="number">Importance</th>
              <th>When</th>
              {query !== '' && <th class="number">Relevance</th>}
              {query !== '' && <th class="number">Score</th>}
            </tr>
          </thead>
          <tbody>
            {memories.map(({ id, content, importance, timestamp, score, relevance, superseded, kind }) => (
              <tr key={id}>
                <td class="long-line">
                  <bdi>{content.slice(0, 2000)}</bdi>{' '}
                  {superseded === true && <Chip severity="off">superseded</Chip>}
                  {kind === 'reflection' && <Chip severity="ok">conclusion</Chip>}
                </td>
                <td class="number">{formatNumber(importance)}</td>
                <td class="muted">{timestamp === null ? '–' : formatGameTime(timestamp)}</td>
                {query !== '' && (
                  <td class="number">{relevance === undefined ? '–' : formatNumber(relevance)}</td>
                )}
                {query !== '' && <td class="number">{score === undefined ? '–' : formatNumber(score)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
