import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

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
  if (failed) return <CodeNotice />
  return Page === undefined ? (
    <p class="muted" data-loading>
      Loading…
    </p>
  ) : (
    <Page parts={parts} />
  )
}

export const CodeNotice = () => (
  <div class="notice warn" role="alert">
    The code of this page could not be loaded. If Causeway was updated, reload the page.
  </div>
)
