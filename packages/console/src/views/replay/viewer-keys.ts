import { useState } from 'preact/hooks'
import type { Finding } from '../../data/replay.ts'
import { type Server, type ServerError, toServerError } from '../../data/server.ts'
import type { SceneBody } from '../../domain/bodies.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { copyText } from '../../ui/copy-button.tsx'
import type { Shortcut } from '../../ui/shortcuts.ts'
import type { Playback } from './playback.ts'
import type { CameraMoves, Layers } from './stage-view.tsx'

/** Returns the shortcuts for frames and playback, which the viewer and the comparison share. */
export function listTimeKeys(playback: Playback): readonly Shortcut[] {
  const show = (frame: number): void => {
    playback.pause()
    playback.seek(frame)
  }
  const step = (frames: number) => () => show(playback.frame.peek() + frames)
  return [
    { keys: 'Space', label: 'Play or pause', run: () => playback.toggle() },
    { keys: 'j', label: 'Play backwards', run: () => playback.play(-1) },
    { keys: 'k', label: 'Pause', run: () => playback.pause() },
    { keys: 'l', label: 'Play forwards', run: () => playback.play() },
    { keys: 'ArrowLeft', label: 'Previous frame', run: step(-1) },
    { keys: 'ArrowRight', label: 'Next frame', run: step(1) },
    { keys: 'Shift+ArrowLeft', label: 'Back 10 frames', run: step(-10) },
    { keys: 'Shift+ArrowRight', label: 'Forward 10 frames', run: step(10) },
    { keys: 'Home', label: 'First frame', run: () => show(playback.first) },
    { keys: 'End', label: 'Last frame', run: () => show(playback.last) },
  ]
}

export const listLayerKeys = (
  keys: readonly (readonly [key: string, layer: keyof Layers, label: string])[],
  setLayers: (change: (oldValue: Layers) => Layers) => void,
): readonly Shortcut[] =>
  keys.map(([key, layer, label]) => ({
    keys: key,
    label: `${label} on or off`,
    run: () => setLayers((oldValue) => ({ ...oldValue, [layer]: !oldValue[layer] })),
  }))

interface Latest {
  readonly findings: readonly Finding[]
  readonly finding: string | undefined
  readonly open: (finding: Finding) => void
  readonly bodies: readonly SceneBody[]
}

/** Binds the keys of the viewer. Returns the error of the last search for a change of contacts. */
export function useViewerShortcuts({
  playback,
  recording,
  latest,
  setLayers,
  setSelected,
  camera,
  showNextView,
  beforeMove,
}: {
  playback: Playback
  recording: string
  latest: { readonly current: Latest }
  setLayers: (change: (oldValue: Layers) => Layers) => void
  setSelected: (change: (oldValue: number | undefined) => number | undefined) => void
  camera: { readonly current: CameraMoves | undefined }
  showNextView: () => void
  /** Called before a key changes the frame or the selection. */
  beforeMove: () => void
}): ServerError | undefined {
  const { error, showContactChange } = useContactChange(playback, recording)
  const openFinding = (by: number) => (): void => {
    const { findings, finding, open } = latest.current
    const ordered = findings.toSorted((a, b) => a.frames.peak - b.frames.peak)
    const at = ordered.findIndex(({ id }) => id === finding)
    const next =
      at === -1
        ? ordered[by > 0 ? 0 : ordered.length - 1]
        : ordered[(at + by + ordered.length) % ordered.length]
    if (next !== undefined) open(next)
  }
  const selectBody = (by: number) => (): void => {
    const ids = latest.current.bodies.map(({ id }) => id)
    setSelected((oldValue) => {
      const at = ids.indexOf(oldValue ?? Number.NaN)
      return ids.at(at === -1 && by < 0 ? -1 : (at + by) % Math.max(1, ids.length))
    })
  }
  const moveKeys: readonly Shortcut[] = [
    ...listTimeKeys(playback),
    { keys: ',', label: 'Previous change of contacts', run: showContactChange(-1) },
    { keys: '.', label: 'Next change of contacts', run: showContactChange(1) },
    { keys: 'n', label: 'Next finding', run: openFinding(1) },
    { keys: 'N', label: 'Previous finding', run: openFinding(-1) },
    { keys: 'b', label: 'Select the next body', run: selectBody(1) },
    { keys: 'B', label: 'Select the previous body', run: selectBody(-1) },
  ]
  useShortcuts(() => [
    ...moveKeys.map((shortcut) => ({
      ...shortcut,
      run: () => {
        beforeMove()
        shortcut.run()
      },
    })),
    { keys: 'f', label: 'Show the selected body', run: () => camera.current?.showSelection() },
    { keys: 'F', label: 'Show all bodies', run: () => camera.current?.showAll() },
    { keys: 'x', label: 'View from the top, front, side, or free', run: showNextView },
    ...listLayerKeys(
      [
        ['c', 'contacts', 'Contacts'],
        ['o', 'forces', 'Forces'],
        ['v', 'velocities', 'Velocities'],
        ['t', 'trails', 'Trails'],
      ],
      setLayers,
    ),
    {
      keys: 'y',
      label: 'Copy a link to this frame',
      run: () => void copyText(location.href),
    },
  ])
  return error
}

/** Returns a function that shows the previous (-1) or next (1) change of contacts. */
function useContactChange(playback: Playback, recording: string) {
  const { server } = useConsole()
  const [error, setError] = useState<ServerError>()
  const showContactChange = (by: 1 | -1) => (): void => {
    playback.pause()
    const start = playback.frame.peek()
    findContactChange(server, { playback, recording, by }).then(
      (frame) => {
        setError(undefined)
        if (frame !== undefined && playback.frame.peek() === start) playback.seek(frame)
      },
      (failure: unknown) => {
        const error = toServerError(failure)
        // The shell already shows that the server is not reachable.
        setError(error.code === 'UNREACHABLE' ? undefined : error)
      },
    )
  }
  return { error, showContactChange }
}

/** Number of frames that are searched first for a change of contacts. */
const initialWidth = 128

/** Returns the nearest frame before (-1) or after (1) the shown one in which a contact begins or ends. */
async function findContactChange(
  server: Server,
  { playback, recording, by }: { playback: Playback; recording: string; by: 1 | -1 },
): Promise<number | undefined> {
  const { first, last } = playback
  const frame = playback.frame.peek()
  for (let width = initialWidth; ; width *= 4) {
    const start = by < 0 ? Math.max(first, frame - width) : frame
    const end = by < 0 ? frame - 1 : Math.min(last, frame + width)
    if (start > end) return undefined
    const contactChanges = await listContactChanges(server, { recording, start_frame: start, end_frame: end })
    // The server reports all contacts of the first frame of a range as new.
    const changes = contactChanges.filter((change) => change > start || start === first)
    const next = by < 0 ? changes.at(-1) : changes.find((change) => change > frame)
    if (next !== undefined || (by < 0 ? start === first : end === last)) return next
  }
}

async function listContactChanges(
  server: Server,
  range: { recording: string; start_frame: number; end_frame: number },
): Promise<readonly number[]> {
  const frames: number[] = []
  let cursor: string | null | undefined
  do {
    const page: { events: readonly { frame_id: number }[]; next_cursor: string | null } = await server.call(
      'replay',
      'timeline',
      { ...range, kinds: ['contact_begin', 'contact_end'], ...(cursor === undefined ? {} : { cursor }) },
    )
    frames.push(...page.events.map(({ frame_id }) => frame_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return frames
}
