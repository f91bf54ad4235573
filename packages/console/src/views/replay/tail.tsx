import { useEffect, useState } from 'preact/hooks'
import type { PoseCache } from '../../data/poses.ts'
import { useConsole } from '../../ui/console.ts'
import { Chip } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

const pollMs = 1000
/** Findings and plots of all frames are computed again after this number of polls with new frames. */
const pollsPerVersion = 3

/** The end of a recording that is being written. */
export interface Tail {
  readonly status: string
  /** Changes when plots and findings must be loaded again. */
  readonly version: number
}

interface TailOptions {
  readonly playback: Playback
  readonly poses: PoseCache
  readonly recording: string
  /** Whether the newest frame is shown first. */
  readonly isAtEnd: boolean
}

/** Adds the new frames of a recording while it is written and the page is visible. */
export function useTail({ playback, poses, recording, isAtEnd }: TailOptions): Tail {
  const { server } = useConsole()
  const [tail, setTail] = useState<Tail>({ status: '', version: 0 })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    let polls = 0
    const read = () =>
      server.call<{ status: string; last_frame: number }>(
        'replay',
        'tail_recording',
        { recording, after_frame: playback.last, limit: 1 },
        { signal },
      )
    const poll = async (): Promise<void> => {
      const answer = document.hidden ? undefined : await read().catch(() => undefined)
      if (signal.aborted) return
      if (answer !== undefined) {
        const { status, last_frame } = answer
        if (polls === 0 && isAtEnd && status === 'live') playback.seek(playback.last)
        const isNew = last_frame > playback.last
        if (isNew) {
          poses.forget(playback.last)
          playback.extend(last_frame)
        }
        if (isNew || polls === 0) polls++
        const hasEnded = polls > 1 && status !== 'live'
        const version = hasEnded ? polls : Math.floor(polls / pollsPerVersion)
        setTail({ status, version })
        if (status !== 'live') return
      }
      timer = setTimeout(() => void poll(), pollMs)
    }
    void poll()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [recording])
  return tail
}

/** States that the recording grows. The button shows its newest frame, and new ones as they arrive. */
export function TailChip({ tail, playback }: { tail: Tail; playback: Playback }) {
  if (tail.status !== 'live') return null
  return (
    <>
      <Chip severity="warn">live</Chip>
      <TailButton playback={playback} />
    </>
  )
}

/** Only this part is rendered again when the frame changes. */
function TailButton({ playback }: { playback: Playback }) {
  const isAtEnd = playback.frame.value === playback.lastFrame.value
  return (
    <button
      type="button"
      class="button"
      aria-pressed={isAtEnd}
      onClick={() => {
        playback.pause()
        playback.seek(playback.last)
      }}
    >
      Newest frame
    </button>
  )
}
