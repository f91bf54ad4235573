import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useConsole } from './console.ts'
import { repeatWhileVisible } from './state.tsx'

export type PathParts = Readonly<Record<string, string>>

export type View = FunctionComponent<{ readonly parts: PathParts }>

export function LazyView({ load, parts }: { load: () => Promise<View>; parts: PathParts }) {
  const [loaded, setLoaded] = useState<{ view?: View; failed?: boolean }>({})
  useEffect(() => {
    let isCurrent = true
    load().then(
      (view) => isCurrent && setLoaded({ view }),
      () => isCurrent && setLoaded({ failed: true }),
    )
    return () => {
      isCurrent = false
    }
  }, [load])
  const { view: Page, failed } = loaded
  useReload(failed === true)
  if (failed) return <CodeNotice />
  return Page === undefined ? (
    <p class="muted" data-loading>
      Loading…
    </p>
  ) : (
    <Page parts={parts} />
  )
}

const reloadMs = 1000

/** Reloads the page when the server is back, because browsers do not repeat a failed import. */
function useReload(isNeeded: boolean): void {
  const { server } = useConsole()
  useEffect(() => {
    if (!isNeeded) return
    // Another request may have failed before the first check.
    let wasUnreachable = !server.isReachable.value
    return repeatWhileVisible(async (signal) => {
      const isReachable = await server.get('/health', { signal }).then(
        () => true,
        () => false,
      )
      if (isReachable && wasUnreachable && !signal.aborted) location.reload()
      wasUnreachable ||= !isReachable
      // If the server was never down, a reload would not help.
      return isReachable ? undefined : reloadMs
    })
  }, [isNeeded])
}

export const CodeNotice = () => (
  <div class="notice warn" role="alert">
    The code of this page could not be loaded. If Causeway was updated, reload the page.
  </div>
)
