import { formatClient } from '@causeway/protocol/call-filter'
import { useState } from 'preact/hooks'
import type { PlotConnection } from '../../data/plot-link.ts'
import { getLabel, type PlotFeature, type PlotState } from '../../domain/plot.ts'

const maxTextLength = 2000

export function NoticeList({ link }: { link: PlotConnection }) {
  const notices = link.notices.value
  return (
    <section class="stack" aria-label="Notices" aria-live="polite">
      {notices.map(({ id, client, text, picture, canUndo }, index) => (
        <div class="notice" key={id}>
          <span class="notice-text">
            <strong>
              <bdi>{formatClient(client).slice(0, 100)}</bdi>
            </strong>{' '}
            <bdi>{text.slice(0, maxTextLength)}</bdi>
            {picture !== undefined && <img src={picture} alt={text.slice(0, 200)} class="plot-picture" />}
          </span>
          {canUndo && index === 0 && (
            <button type="button" class="button" onClick={() => void link.undo()}>
              Undo
            </button>
          )}
        </div>
      ))}
    </section>
  )
}

export function ConflictNotices({ link, state }: { link: PlotConnection; state: PlotState }) {
  const conflict = link.conflict.value
  return (
    <>
      {conflict !== undefined && (
        <div class="notice warn" role="alert">
          <div class="stack notice-text">
            <strong>Another client changed this feature at the same time. Your change is not applied.</strong>
            <Versions mine={conflict.mine} theirs={conflict.theirs} />
            <div class="row">
              <button type="button" class="button" onClick={() => link.resolve('mine')}>
                Use mine
              </button>
              <button type="button" class="button" onClick={() => link.resolve('theirs')}>
                Use theirs
              </button>
            </div>
          </div>
        </div>
      )}
      {state.file !== 'ok' && state.file !== 'unsaved' && <FileConflict link={link} state={state} />}
    </>
  )
}

function Versions({ mine, theirs }: { mine: PlotFeature; theirs: PlotFeature }) {
  const names = [...new Set([...Object.keys(mine.properties ?? {}), ...Object.keys(theirs.properties ?? {})])]
  const format = ({ properties }: PlotFeature, name: string): string =>
    (JSON.stringify(properties?.[name]) ?? 'none').slice(0, 200)
  const differentNames = names.filter((name) => format(mine, name) !== format(theirs, name))
  return (
    <table>
      <thead>
        <tr>
          <th>
            <bdi>{getLabel(theirs).slice(0, 60)}</bdi>
          </th>
          <th>Mine</th>
          <th>Theirs</th>
        </tr>
      </thead>
      <tbody>
        {differentNames.map((name) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="long-text">{format(mine, name)}</td>
            <td class="long-text">{format(theirs, name)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function FileConflict({ link, state }: { link: PlotConnection; state: PlotState }) {
  const [name, setName] = useState(() => link.filename.replace('.plot.json', '-copy.plot.json'))
  return (
    <div class="notice warn" role="alert">
      <div class="stack notice-text">
        <strong>The plot differs from its file and is not saved.</strong>
        {state.message !== undefined && <span>{state.message}</span>}
        <div class="row">
          <button type="button" class="button" onClick={() => void link.save({ on_conflict: 'overwrite' })}>
            Overwrite the file
          </button>
          <button type="button" class="button" onClick={() => void link.save({ on_conflict: 'reload' })}>
            Reload the file
          </button>
          <input
            class="plot-copy"
            aria-label="Name of the copy"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button
            type="button"
            class="button"
            onClick={() => void link.save({ on_conflict: 'save_as', new_filename: name })}
          >
            Save as copy
          </button>
        </div>
      </div>
    </div>
  )
}
