import { useConsole } from '../../ui/console.ts'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'

export interface PlotList {
  readonly plots: readonly { readonly filename: string; readonly title: string }[]
  readonly files: readonly { readonly filename: string }[]
  readonly folders: readonly string[]
}

export function PlotsPage() {
  const { server } = useConsole()
  const list = useLoaded(
    (signal) => server.call<PlotList>('debrief', 'list_plots', {}, { signal }),
    [server.needsToken.value],
    { intervalMs: 5000 },
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>Debrief</h1>
        <p class="muted">Maritime plots that people and agents change together.</p>
      </div>
      <LoadedView loaded={list}>{(value) => <Plots list={value} />}</LoadedView>
    </div>
  )
}

function Plots({ list: { plots, files, folders } }: { list: PlotList }) {
  const open = new Set(plots.map(({ filename }) => filename))
  const names = [...open, ...files.map(({ filename }) => filename)]
  if (names.length === 0)
    return (
      <Empty title="No plots found">
        <p>Searched folders: {folders.join(', ') || 'none'}</p>
        <p>Plots are GeoJSON files named *.plot.json. Add their folder with CAUSEWAY_PLOT_ROOTS.</p>
      </Empty>
    )
  return (
    <div class="card scroll">
      <table>
        <thead>
          <tr>
            <th>Plot</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {names.map((filename) => (
            <tr key={filename}>
              <td class="long-text">
                <a href={`/debrief/plots/${encodeURIComponent(filename)}`}>
                  <bdi>{filename}</bdi>
                </a>
              </td>
              <td>
                {open.has(filename) ? <Chip severity="ok">open</Chip> : <Chip severity="off">closed</Chip>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
