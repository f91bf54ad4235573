import '../pages.css'
import { useState } from 'preact/hooks'
import { formatGameTime, type MindDecision, type MindPlace, type MindState } from '../../domain/minds.ts'
import { formatCount } from '../../domain/text.ts'
import { useConsole } from '../../ui/console.ts'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Empty, LoadedView, useLoaded } from '../../ui/state.tsx'
import { DecisionView } from './decision-view.tsx'
import { DecisionList } from './decisions.tsx'
import { Memories } from './memories.tsx'
import { NeedsView } from './needs-view.tsx'
import { TownView } from './town-view.tsx'

export function MindPage({ parts: { mind = '' } }: { parts: PathParts }) {
  const { server } = useConsole()
  const access = server.needsToken.value
  const path = encodeURIComponent(mind)
  const state = useLoaded(
    (signal) => server.read<MindState>('minds', `mind://${path}/state`, { signal }),
    [mind, access],
    { intervalMs: 2000 },
  )
  const isMissing = state.error?.code === 'RESOURCE_NOT_FOUND'
  if (isMissing && state.value === undefined) return <MissingMind mind={mind} />
  return (
    <div class="page">
      <div class="row spread">
        <h1 class="long-line">
          <bdi>{mind}</bdi>
        </h1>
        <a class="button" href="/apps/minds/decide_action">
          Decide for an observation
        </a>
      </div>
      {isMissing && (
        <p class="notice warn" role="status">
          This mind was deleted. The page shows its last state.
        </p>
      )}
      <LoadedView loaded={isMissing ? { ...state, error: undefined } : state}>
        {(value) => <StateView state={value} />}
      </LoadedView>
      {state.value !== undefined && <MindDetails mind={mind} version={state.value.decisions} />}
    </div>
  )
}

/** `version` changes with each decision. */
function MindDetails({ mind, version }: { mind: string; version: number }) {
  const { server } = useConsole()
  const access = server.needsToken.value
  const path = encodeURIComponent(mind)
  const decisions = useLoaded(
    (signal) =>
      server.get<{ decisions: readonly MindDecision[] }>(`/api/apps/minds/minds/${path}/decisions?limit=50`, {
        signal,
      }),
    [mind, access],
    { version },
  )
  const places = useLoaded(
    (signal) =>
      server.get<{ places: readonly MindPlace[] }>(`/api/apps/minds/minds/${path}/places`, { signal }),
    [mind, access],
    { version },
  )
  const [chosenId, setChosenId] = useState<string>()
  return (
    <>
      <div class="split">
        <LoadedView loaded={decisions}>
          {({ decisions }) => (
            <>
              <DecisionList decisions={decisions} chosenId={chosenId} choose={setChosenId} />
              <DecisionView
                decision={decisions.find(({ request_id }) => request_id === chosenId) ?? decisions[0]}
              />
            </>
          )}
        </LoadedView>
      </div>
      {decisions.value !== undefined && <NeedsView decisions={decisions.value.decisions} />}
      <LoadedView loaded={places}>
        {({ places }) => (
          <TownView
            mind={mind}
            places={places}
            decisions={decisions.value?.decisions ?? []}
            chosenId={chosenId}
          />
        )}
      </LoadedView>
      <Memories mind={mind} />
    </>
  )
}

const MissingMind = ({ mind }: { mind: string }) => (
  <div class="page">
    <h1 class="long-line">
      <bdi>{mind}</bdi>
    </h1>
    <Empty title="This mind does not exist">
      <p>
        It was deleted, or its id is different. <a href="/minds">List all minds</a>
      </p>
    </Empty>
  </div>
)

function StateView({ state }: { state: MindState }) {
  const { working_memory, traits, selector, decisions, current_simulation_time } = state
  const figures = [
    ['Mood', working_memory?.emotional_state || 'unknown', working_memory?.situation_assessment ?? ''],
    [
      'Decisions',
      formatCount(decisions),
      current_simulation_time === null ? 'none yet' : `last on ${formatGameTime(current_simulation_time)}`,
    ],
    [
      'Memories',
      formatCount(state.long_term_memory_count),
      `and ${formatCount(state.daily_memories_count)} of the day`,
    ],
    ['Decides by', selector === 'llm' ? 'language model' : selector, traits.join(', ')],
  ] as const
  return (
    <>
      <dl class="figures">
        {figures.map(([name, value, detail]) => (
          <div class="card" key={name}>
            <dt class="muted">{name}</dt>
            <dd class="figure-value long-line">
              <bdi>{value.slice(0, 100)}</bdi>
            </dd>
            <dd class="muted long-line">
              <bdi>{detail.slice(0, 300)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <div class="cards">
        {(
          [
            ['Goals', working_memory?.active_goals],
            ['Plan', working_memory?.current_plan],
            ['Recent events', working_memory?.recent_events],
          ] as const
        ).map(([name, entries = []]) => (
          <section class="card stack" key={name} aria-label={name}>
            <h3>{name}</h3>
            {entries.length === 0 && <p class="muted">none</p>}
            <ul class="stack">
              {entries.slice(0, 10).map((entry) => (
                <li key={entry} class="long-line">
                  <bdi>{entry.slice(0, 500)}</bdi>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}
