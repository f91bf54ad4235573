import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../data/server.ts'
import { fillRemedy } from '../domain/text.ts'
import { ForeignText } from './foreign-text.tsx'

/** Maximum pause before a request to a busy, stopping or unreachable server is repeated, in ms. */
const maxRetryMs = 30_000

/** If loading fails, the last value remains. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: ServerError | undefined
  readonly reload: () => void
}

/**
 * Loads a value when the inputs change and, with `intervalMs`, repeatedly while the page is visible. Retries while the
 * server is not available. A change of `version` retains the old value until the new one is loaded.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { intervalMs, version }: { readonly intervalMs?: number; readonly version?: unknown } = {},
): Loaded<T> {
  const [state, setState] = useState<LoadedState<T>>({ inputs })
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    let failures = 0
    return repeatWhileVisible(async (signal) => {
      try {
        const value = await load(signal)
        failures = 0
        if (!signal.aborted) setState({ inputs, value })
      } catch (thrownError) {
        const error = toServerError(thrownError)
        if (!signal.aborted) setState((oldState) => ({ ...select(oldState, inputs), inputs, error }))
        if (error.retryable && intervalMs === undefined) return Math.min(maxRetryMs, 1000 * 2 ** failures++)
      }
      return intervalMs
    })
  }, [...inputs, attempt, version])
  const { value, error } = select(state, inputs)
  return { value, error, reload: () => setAttempt((count) => count + 1) }
}

interface LoadedState<T> {
  readonly inputs: readonly unknown[]
  readonly value?: T
  readonly error?: ServerError
}

/** Returns the state if it was loaded for these inputs, otherwise an empty one. */
const select = <T,>(state: LoadedState<T>, inputs: readonly unknown[]): Partial<LoadedState<T>> =>
  state.inputs.every((input, index) => Object.is(input, inputs[index])) ? state : {}

/**
 * Calls a function, and again after each pause in ms that it returns, while the page is visible. The function must
 * not throw. Returns a function that stops the repetition and aborts the signal.
 */
export function repeatWhileVisible(run: (signal: AbortSignal) => Promise<number | undefined>): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let timer: ReturnType<typeof setTimeout> | undefined
  const step = async (): Promise<void> => {
    timer = undefined
    const pauseMs = await run(signal)
    if (!signal.aborted && pauseMs !== undefined) timer = setTimeout(resume, pauseMs)
  }
  const resume = (): void => {
    if (document.hidden || timer === undefined) return
    clearTimeout(timer)
    void step()
  }
  document.addEventListener('visibilitychange', resume, { signal })
  void step()
  return () => {
    controller.abort()
    clearTimeout(timer)
  }
}

export function LoadedView<T>({
  loaded,
  children,
}: {
  loaded: Loaded<T>
  children: (value: T) => ComponentChildren
}) {
  const { value, error, reload } = loaded
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} retry={reload} />}
      {value === undefined
        ? error === undefined && (
            <p class="muted" data-loading>
              Loading…
            </p>
          )
        : children(value)}
    </>
  )
}

export const ErrorNotice = ({ error, retry }: { error: ServerError; retry?: () => void }) => (
  <div class="notice err" role="alert">
    <div class="stack" style={{ gap: '4px', flex: 1 }}>
      <strong class="mono">{error.code}</strong>
      <div>
        <ForeignText text={error.message} max={1000} />
      </div>
      {error.remedy !== '' && (
        <div style={{ whiteSpace: 'pre-line' }}>
          <ForeignText text={fillRemedy(error.remedy, error.data)} max={1000} />
        </div>
      )}
    </div>
    {retry !== undefined && (
      <button type="button" class="button" onClick={retry}>
        Retry
      </button>
    )}
  </div>
)

const marks = { ok: '●', warn: '▲', err: '◆', off: '○' } as const

export type Severity = keyof typeof marks

export const Chip = ({ severity, children }: { severity: Severity; children: ComponentChildren }) => (
  <span class={`chip ${severity}`}>
    <span aria-hidden="true">{marks[severity]}</span>
    {children}
  </span>
)

export const toSeverity = (status: string): Severity =>
  status === 'ok' ? 'ok' : status === 'failed' ? 'err' : 'warn'

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="card stack" style={{ justifyItems: 'start' }}>
    <strong>{title}</strong>
    <div class="muted stack">{children}</div>
  </div>
)
