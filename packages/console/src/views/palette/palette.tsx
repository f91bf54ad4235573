import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ServerError } from '../../data/server.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import type { Section } from '../../ui/shell.tsx'
import { Chip } from '../../ui/state.tsx'
import { findLists, type LoadedList, type ServerList, toFrameUrl } from './lists.ts'
import { type EntryGroup, findFrame, searchEntries } from './search.ts'
import './palette.css'

const label = 'Search pages, tools, recordings, plots, minds and sessions'

export function Palette({ sections, close }: { sections: readonly Section[]; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [query, setQuery] = useState('')
  const [chosenUrl, setChosenUrl] = useState<string>()
  const { lists, loaded, groups } = useSearch(sections, query)
  const urls = groups.flatMap(({ entries }) => entries.map(({ url }) => url))
  const current = urls.includes(chosenUrl ?? '') ? chosenUrl : urls[0]
  useLayoutEffect(() => dialog.current?.showModal(), [])
  useEffect(() => findChosen(list.current)?.scrollIntoView({ block: 'nearest' }), [current])
  const end = (): void => {
    dialog.current?.close()
    // Until the next frame, a closed dialog still receives keys if nothing had the focus before.
    const focusedElement = document.activeElement
    if (focusedElement instanceof HTMLElement && dialog.current?.contains(focusedElement))
      focusedElement.blur()
  }
  const handleKey = (event: KeyboardEvent): void => {
    const move = (by: number): void =>
      setChosenUrl(urls[(urls.indexOf(current ?? '') + by + urls.length) % urls.length])
    if (event.isComposing) return
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter') findChosen(list.current)?.click()
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClose={close}
      onKeyDown={(event) => {
        // The browser would close the dialog later, possibly after the next key.
        const isEscape = event.key === 'Escape' && !event.isComposing
        if (!isEscape && (event.key !== 'k' || !(event.ctrlKey || event.metaKey))) return
        event.preventDefault()
        end()
      }}
    >
      <div class="row nowrap">
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={urls.length > 0}
          aria-controls="palette-results"
          aria-activedescendant={current === undefined ? undefined : toId(urls.indexOf(current))}
          placeholder={label}
          autocomplete="off"
          spellcheck={false}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value)
            setChosenUrl(undefined)
          }}
          onKeyDown={handleKey}
        />
        <button type="button" class="button" onClick={end}>
          Close
        </button>
      </div>
      <div ref={list} id="palette-results" class="palette-results" role="listbox" aria-label="Results">
        <Groups {...{ groups, urls, current, end }} />
      </div>
      <State {...{ lists, loaded }} count={urls.length} />
    </dialog>
  )
}

const toId = (index: number): string => `palette-result-${index}`

const findChosen = (list: HTMLElement | null) => list?.querySelector<HTMLElement>('[aria-selected="true"]')

function useSearch(sections: readonly Section[], query: string) {
  const { navigation } = useConsole()
  const lists = useMemo(() => findLists(navigation.path.peek()), [])
  const loaded = useLists(lists)
  const entries = useMemo(
    () => [
      ...sections.map(({ label: title, path: url }) => ({ group: 'Pages', title, detail: '', url })),
      ...lists.flatMap(({ name }) =>
        (loaded.get(name)?.entries ?? []).map((entry) => ({ ...entry, group: name })),
      ),
    ],
    [loaded],
  )
  const groups = useMemo(() => {
    const frame = findFrame(query, loaded.get('Frames')?.frames)
    const groups = searchEntries(entries, query)
    return frame === undefined ? groups : [toFrameGroup(frame), ...groups]
  }, [entries, query])
  return { lists, loaded, groups }
}

function toFrameGroup(frame: number): EntryGroup {
  const url = toFrameUrl({ frame: String(frame) })
  return { name: 'Frames', entries: [{ group: 'Frames', title: `Frame ${frame}`, detail: '', url }] }
}

/** Does not cancel requests when the dialog is closed: Traffic shows cancelled calls as failed. */
function useLists(lists: readonly ServerList[]): ReadonlyMap<string, LoadedList> {
  const { server } = useConsole()
  const [loaded, setLoaded] = useState<ReadonlyMap<string, LoadedList>>(new Map())
  useEffect(() => {
    let isOpen = true
    for (const { name, load } of lists) {
      const store = (list: LoadedList): void => {
        if (isOpen) setLoaded((oldLists) => new Map(oldLists).set(name, list))
      }
      load(server).then(store, ({ code = 'PAGE_ERROR' }: Partial<ServerError>) => store({ failure: code }))
    }
    return () => {
      isOpen = false
    }
  }, [])
  return loaded
}

interface GroupsProps {
  readonly groups: readonly EntryGroup[]
  readonly urls: readonly string[]
  readonly current: string | undefined
  readonly end: () => void
}

const Groups = ({ groups, urls, current, end }: GroupsProps) =>
  groups.map(({ name, entries }) => (
    <fieldset key={name} aria-label={name}>
      <div class="palette-group" aria-hidden="true">
        {name}
      </div>
      {entries.map(({ url, title, detail }) => (
        <a
          key={url}
          id={toId(urls.indexOf(url))}
          role="option"
          aria-selected={url === current}
          tabIndex={-1}
          href={url}
          onClick={end}
        >
          <span class="clip">
            <ForeignText text={title} max={100} />
          </span>
          <span class="muted clip">
            <ForeignText text={detail} max={100} />
          </span>
        </a>
      ))}
    </fieldset>
  ))

interface StateProps {
  readonly lists: readonly ServerList[]
  readonly loaded: ReadonlyMap<string, LoadedList>
  readonly count: number
}

function State({ lists, loaded, count }: StateProps) {
  const failed = [...loaded].flatMap(([name, { failure }]) => (failure ? [`${name} (${failure})`] : []))
  const truncatedNames = [...loaded].flatMap(([name, { isTruncated }]) => (isTruncated ? [name] : []))
  const isLoading = loaded.size < lists.length
  return (
    <div class="muted" role="status" {...(isLoading ? { 'data-loading': true } : {})}>
      {count === 1 ? '1 result' : `${count} results`}
      {isLoading && ', loading more…'}
      {truncatedNames.length > 0 && `. Not all are searched: ${truncatedNames.join(', ')}`}
      {failed.length > 0 && (
        <p>
          <Chip severity="warn">not loaded</Chip> {failed.join(', ')}
        </p>
      )}
    </div>
  )
}
