import '../pages.css'
import { useSignalEffect } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../../data/server.ts'
import { formatHash, parseHash } from '../../domain/link.ts'
import { formatMs, formatNumber } from '../../domain/text.ts'
import {
  listScores,
  sessionSeverities,
  type TrmResult,
  type TrmSession,
  type TrmStep,
} from '../../domain/trm.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import type { PathParts } from '../../ui/lazy-view.tsx'
import { Chip, ErrorNotice, LoadedView, useLoaded } from '../../ui/state.tsx'
import { ScoreChart } from './score-chart.tsx'
import { StepDiff } from './step-diff.tsx'
import { TestMatrixView } from './test-matrix.tsx'

export function TrmSessionPage({ parts: { session = '' } }: { parts: PathParts }) {
  const { server } = useConsole()
  const loaded = useLoaded(
    (signal) => server.read<TrmSession>('trm', `trm://sessions/${encodeURIComponent(session)}`, { signal }),
    [session, server.needsToken.value],
    { intervalMs: 3000 },
  )
  return (
    <div class="page">
      <h1 class="long-line">
        Session <bdi>{session}</bdi>
      </h1>
      <LoadedView loaded={loaded}>
        {(value) => <SessionView session={value} reload={loaded.reload} />}
      </LoadedView>
    </div>
  )
}

function SessionView({ session, reload }: { session: TrmSession; reload: () => void }) {
  const { standing, config, status, steps, last } = session
  const { index, choose } = useChosenStep(steps.length)
  const step = steps[index]
  const figures = [
    ['Best score', formatNumber(standing.best_score), formatBestStep(standing.best_step)],
    ['Steps', `${standing.step} of ${config.halt.max}`, `threshold ${config.halt.threshold}`],
    ['Average', formatNumber(standing.ema ?? standing.best_score), `weight of the newest ${config.ema}`],
    ['Without progress', `${standing.streak} of ${config.halt.patience}`, 'steps until it stops'],
  ]
  return (
    <>
      <div class="row spread">
        <div class="row">
          <Chip severity={sessionSeverities[status] ?? 'off'}>{status}</Chip>
          <span class="muted">
            Project <bdi>{config.repoPath.split(/[\\/]/).at(-1)}</bdi>
          </span>
          {status === 'halted' && <bdi class="long-line">{last?.reasons[0]?.slice(0, 300)}</bdi>}
        </div>
        <UndoButton session={session} reload={reload} />
      </div>
      <dl class="figures">
        {figures.map(([name, value, detail]) => (
          <div class="card" key={name}>
            <dt class="muted">{name}</dt>
            <dd class="figure-value">{value}</dd>
            <dd class="muted">{detail}</dd>
          </div>
        ))}
      </dl>
      <ScoreChart scores={listScores(session)} threshold={config.halt.threshold} />
      <div class="split">
        <StepList session={session} chosenStep={index} choose={choose} />
        <div class="stack">
          {step !== undefined && <StepView step={step} session={session.sessionId} position={index} />}
          {last !== null && <LastResult result={last} />}
        </div>
      </div>
      <TestMatrixView session={session} chosenStep={index} choose={choose} />
    </>
  )
}

/** Selects the last evaluation by default. The address contains its position, because step numbers are reused after an undo. */
function useChosenStep(count: number) {
  const { navigation } = useConsole()
  const [chosenStep, setChosenStep] = useState<number>()
  useSignalEffect(() => {
    const position = parseHash(navigation.hash.value.text).get('evaluation') ?? ''
    setChosenStep(/^\d{1,6}$/.test(position) ? Number(position) : undefined)
  })
  const index = Math.min(chosenStep ?? count - 1, count - 1)
  const choose = (position: number): void => {
    if (position < 0 || position >= count) return
    setChosenStep(position)
    navigation.replaceHash(formatHash(location.hash, { evaluation: String(position) }))
  }
  const latest = useRef({ index, choose })
  latest.current = { index, choose }
  const move = (by: number) => (): void => latest.current.choose(latest.current.index + by)
  useShortcuts(() => [
    { keys: '[', label: 'Previous step', run: move(-1) },
    { keys: ']', label: 'Next step', run: move(1) },
  ])
  return { index, choose }
}

const formatBestStep = (step: number | null): string => (step === null ? 'no step yet' : `at step ${step}`)

interface StepListProps {
  readonly session: TrmSession
  readonly chosenStep: number
  readonly choose: (index: number) => void
}

function StepList({ session: { steps, standing }, chosenStep, choose }: StepListProps) {
  return (
    <section class="stack" aria-labelledby="steps-title">
      <h2 id="steps-title">Steps</h2>
      <div class="entries">
        {steps.map((step, index) => (
          <button
            type="button"
            class="entry"
            key={index}
            aria-pressed={index === chosenStep}
            onClick={() => choose(index)}
          >
            <strong>{step.kind === 'baseline' ? 'Baseline' : `Step ${step.step}`}</strong>
            <span class="clip muted">
              <bdi>{step.reason ?? ''}</bdi>
            </span>
            <span class="row">
              {!step.undone && step.step === standing.best_step && <Chip severity="ok">best</Chip>}
              {step.undone && <Chip severity="off">undone</Chip>}
              {step.status !== 'done' && (
                <Chip severity={sessionSeverities[step.status] ?? 'off'}>{step.status}</Chip>
              )}
              <span class="number">{step.score === null ? '–' : formatNumber(step.score)}</span>
            </span>
          </button>
        ))}
      </div>
    </section>
  )
}

interface StepViewProps {
  readonly step: TrmStep
  readonly session: string
  readonly position: number
}

function StepView({ step, session, position }: StepViewProps) {
  return (
    <section class="card stack" aria-labelledby="step-title">
      <h2 id="step-title">{step.kind === 'baseline' ? 'Baseline' : `Step ${step.step}`}</h2>
      {step.reason !== null && (
        <p class="long-line">
          <bdi>{step.reason}</bdi>
        </p>
      )}
      <p class="muted long-line">
        {step.filesChanged.length === 0
          ? 'No file changed.'
          : `Changed: ${step.filesChanged.slice(0, 20).join(', ')}`}
      </p>
      {step.filesChanged.length > 0 && (
        <StepDiff key={position} session={session} position={position} status={step.status} />
      )}
      {step.commands.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Command</th>
              <th class="number">Exit code</th>
              <th class="number">ms</th>
            </tr>
          </thead>
          <tbody>
            {step.commands.map(({ stage, exitCode, ms }) => (
              <tr key={stage}>
                <td>{stage}</td>
                <td class="number">{exitCode ?? 'killed'}</td>
                <td class="number">{formatMs(ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function LastResult({ result }: { result: TrmResult }) {
  const { guard, tamper, warnings, failures, signals, score } = result
  const suspicionTexts = [
    ...warnings,
    ...tamper.map(({ path, why }) => `${path}: ${why}`),
    ...(guard?.suspicions ?? []),
    ...(guard === null || guard.confirms ? [] : guard.why),
  ]
  return (
    <section class="card stack" aria-labelledby="last-title">
      <div class="row spread">
        <h2 id="last-title">Last evaluation, step {result.step}</h2>
        {guard !== null && (
          <Chip severity={guard.passes && guard.confirms ? 'ok' : 'err'}>
            {guard.passes && guard.confirms ? 'guard passed' : 'guard failed'}
          </Chip>
        )}
      </div>
      {suspicionTexts.map((suspicionText) => (
        <div class="notice warn" key={suspicionText}>
          <bdi>{suspicionText.slice(0, 1000)}</bdi>
        </div>
      ))}
      <SignalTable signals={signals} score={score} />
      {failures.length > 0 && (
        <details open>
          <summary>{failures.length} failing</summary>
          {failures.slice(0, 20).map(({ id, message }) => (
            <div class="excerpt" key={id}>
              <strong class="mono long-line">
                <bdi>{id.slice(0, 300)}</bdi>
              </strong>
              <pre>{message}</pre>
            </div>
          ))}
        </details>
      )}
    </section>
  )
}

function SignalTable({ signals, score }: Pick<TrmResult, 'signals' | 'score'>) {
  // The score is the mean of the values, weighted by `weight`.
  const total = signals.reduce((sum, { weight }) => sum + weight, 0)
  return (
    <table>
      <caption class="visually-hidden">The score as the sum of its signals</caption>
      <thead>
        <tr>
          <th>Signal</th>
          <th class="number">Weight</th>
          <th class="number">Value</th>
          <th class="number">Contribution</th>
          <th>Reason</th>
        </tr>
      </thead>
      <tbody>
        {signals.map(({ name, ok, weight, value, contribution, why }) => (
          <tr key={name}>
            <td>
              <Chip severity={ok ? 'ok' : 'err'}>{name}</Chip>
            </td>
            <td class="number">
              {formatNumber(weight)} of {formatNumber(total)}
            </td>
            <td class="number">{formatNumber(value)}</td>
            <td class="number">{formatNumber(contribution)}</td>
            <td class="long-line">
              <bdi>{why.slice(0, 300)}</bdi>
            </td>
          </tr>
        ))}
        <tr>
          <td>
            <strong>Score</strong>
          </td>
          <td />
          <td />
          <td class="number">
            <strong>{formatNumber(score)}</strong>
          </td>
          <td />
        </tr>
      </tbody>
    </table>
  )
}

function UndoButton({ session, reload }: { session: TrmSession; reload: () => void }) {
  const { server } = useConsole()
  const [isAsking, setAsking] = useState(false)
  const [error, setError] = useState<ServerError>()
  const undo = (): void => {
    setAsking(!isAsking)
    if (!isAsking) return
    server.call('trm', 'undo', { sid: session.sessionId }).then(
      () => {
        setError(undefined)
        reload()
      },
      (reason: unknown) => setError(toServerError(reason)),
    )
  }
  return (
    <div class="stack">
      <button
        type="button"
        class="button"
        disabled={session.standing.step === 0 || session.status === 'ended'}
        onClick={undo}
        onBlur={() => setAsking(false)}
      >
        {isAsking ? `Undo step ${session.standing.step} and its files?` : 'Undo the last step'}
      </button>
      {error !== undefined && <ErrorNotice error={error} />}
    </div>
  )
}
