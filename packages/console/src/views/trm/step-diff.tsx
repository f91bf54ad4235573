import { useConsole } from '../../ui/console.ts'
import { LoadedView, useLoaded } from '../../ui/state.tsx'

interface Diffs {
  readonly files: readonly {
    readonly path: string
    readonly change: string
    readonly diff: string | null
  }[]
}

/** Maximum number of shown lines per file. */
const maxLines = 20_000
/** Number of lines that the browser lays out together, when they are scrolled into view. */
const linesPerBlock = 100
const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk' }

export function StepDiff({
  session,
  position,
  status,
}: {
  session: string
  position: number
  status: string
}) {
  const { server } = useConsole()
  const diffs = useLoaded(
    (signal) =>
      server.get<Diffs>(
        `/api/apps/trm/sessions/${encodeURIComponent(session)}/evaluations/${position}/diff`,
        { signal },
      ),
    [session, position, status],
  )
  return (
    <LoadedView loaded={diffs}>
      {({ files }) =>
        files.map(({ path, change, diff }) => (
          <details key={path} open={files.length <= 5}>
            <summary class="long-line">
              <bdi class="mono">{path.slice(0, 300)}</bdi> <span class="muted">{change}</span>
            </summary>
            {diff === null ? (
              <p class="muted">The file is binary or too large to compare.</p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
              <pre class="diff" tabIndex={0}>
                <DiffLines text={diff} />
              </pre>
            )}
          </details>
        ))
      }
    </LoadedView>
  )
}

function DiffLines({ text }: { text: string }) {
  const lines = text.split('\n')
  const shownCount = Math.min(lines.length, maxLines)
  const starts = Array.from(
    { length: Math.ceil(shownCount / linesPerBlock) },
    (_, block) => block * linesPerBlock,
  )
  return (
    <>
      {starts.map((start) => (
        <span key={start} class="lines">
          {lines.slice(start, Math.min(start + linesPerBlock, shownCount)).map((line, index) => (
            <span key={index} class={kinds[line.charAt(0)]}>
              {line}
            </span>
          ))}
        </span>
      ))}
      {lines.length > maxLines && <span class="hunk">{lines.length - maxLines} more lines</span>}
    </>
  )
}
