import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ServerError } from '../data/server.ts'
import { fillRemedy } from '../domain/text.ts'
import { ForeignText } from './foreign-text.tsx'

/** The state of something that is loaded. The last value remains while an error is shown. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: ServerError | undefined
  readonly reload: () => void
}

/** ms before a load that failed with a retryable error is repeated. The time is doubled after each failure. */
const retryMs = { min: 2000, max: 30_000 }

/**
 * Loads a value when the inputs change, again after a retryable error, and, with `everyMs`, repeatedly while the page is visible. After a change of `version`, the old
 * value remains until the next one is loaded.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { everyMs, version }: { readonly everyMs?: number; readonly version?: number } = {},
): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: ServerError }>({})
  const [attempt, setAttempt] = useState(0)
  useEffect(() => setState({}), inputs)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    let waitMs = retryMs.min
    const retry = (): void => {
      timer = setTimeout(() => (document.hidden ? retry() : void run()), waitMs)
      waitMs = Math.min(2 * waitMs, retryMs.max)
    }
    const run = () =>
      load(signal).then(
        (value) => signal.aborted || setState({ value }),
        (failure: unknown) => {
          if (signal.aborted) return
          const error = toServerError(failure)
          setState((old) => ({ ...old, error }))
          if (error.retryable && everyMs === undefined) retry()
        },
      )
    void run()
    const stop = everyMs === undefined ? undefined : repeatWhileVisible(run, everyMs)
    return () => {
      controller.abort()
      clearTimeout(timer)
      stop?.()
    }
  }, [...inputs, attempt, version])
  return { value: state.value, error: state.error, reload: () => setAttempt((count) => count + 1) }
}

/** Calls a function repeatedly while the page is visible, and when it becomes visible. Returns a function that stops it. */
function repeatWhileVisible(run: () => void, everyMs: number): () => void {
  const runIfVisible = (): void => {
    if (!document.hidden) run()
  }
  const timer = setInterval(runIfVisible, everyMs)
  document.addEventListener('visibilitychange', runIfVisible)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', runIfVisible)
  }
}

/** Returns any thrown value as an error that `ErrorNotice` shows. */
export const toServerError = (error: unknown): ServerError =>
  error instanceof ServerError
    ? error
    : new ServerError({ code: 'PAGE_ERROR', message: error instanceof Error ? error.message : String(error) })

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

/** Placeholder of a page without data: what it will show and how to create it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="card stack" style={{ justifyItems: 'start' }}>
    <strong>{title}</strong>
    <div class="muted stack">{children}</div>
  </div>
)
