import { useRef, useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../../data/server.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { ErrorNotice, LoadedView, useLoaded } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

interface BookmarkList {
  readonly bookmarks: readonly { readonly id: number; readonly frame_id: number; readonly note: string }[]
}

const defaultNote = 'Marked in the console'

export function Bookmarks({ playback, recording }: { playback: Playback; recording: string }) {
  const { server } = useConsole()
  const [note, setNote] = useState('')
  const [error, setError] = useState<ServerError>()
  const loaded = useLoaded(
    (signal) => server.call<BookmarkList>('replay', 'bookmark', { recording }, { signal }),
    [recording],
  )
  const change = (args: object): void =>
    void server.call('replay', 'bookmark', { recording, ...args }).then(
      () => {
        setError(undefined)
        loaded.reload()
      },
      (failure: unknown) => setError(toServerError(failure)),
    )
  const add = (): void => {
    playback.pause()
    change({ frame_id: playback.frame.peek(), note: note.trim() || defaultNote })
    setNote('')
  }
  const latest = useRef(add)
  latest.current = add
  useShortcuts(() => [{ keys: 'm', label: 'Bookmark this frame', run: () => latest.current() }])
  return (
    <section class="stack" aria-labelledby="bookmarks-title" style={{ gap: '8px' }}>
      <h2 id="bookmarks-title">Bookmarks</h2>
      <form
        class="row nowrap"
        onSubmit={(event) => {
          event.preventDefault()
          add()
        }}
      >
        <input
          aria-label="Note of the bookmark"
          placeholder="Note, optional"
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
        <button type="submit" class="button">
          Bookmark this frame
        </button>
      </form>
      {error !== undefined && <ErrorNotice error={error} />}
      <LoadedView loaded={loaded}>
        {({ bookmarks }) => (
          <ul class="stack" style={{ gap: '4px' }}>
            {bookmarks.map(({ id, frame_id, note: text }) => (
              <li key={id} class="row spread nowrap">
                <button type="button" class="body-name wrap" onClick={() => playback.seek(frame_id)}>
                  Frame {frame_id}: <ForeignText text={text} />
                </button>
                <button
                  type="button"
                  class="button quiet"
                  aria-label={`Remove the bookmark of frame ${frame_id}`}
                  onClick={() => change({ remove: id })}
                >
                  Remove
                </button>
              </li>
            ))}
          </ul>
        )}
      </LoadedView>
    </section>
  )
}
