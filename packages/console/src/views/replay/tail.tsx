import { useEffect, useState } from 'preact/hooks'
import type { PoseCache } from '../../data/poses.ts'
import { useConsole } from '../../ui/console.ts'
import { Chip, repeatWhileVisible } from '../../ui/state.tsx'
import type { Playback } from './playback.ts'

/** Interval between polls of a recording that the server writes, in ms. */
const pollMs = 1000
/** Intervals between polls of a file that another recorder may write, in ms. Doubles while the file does not change. */
const filePollMs = { min: 2000, max: 32_000 }
/** Findings and plots are computed again after this number of polls with new frames. */
const pollsPerVersion = 3

export interface Tail {
  readonly isGrowing: boolean
  /** Changes when plots and findings must be loaded again. */
  readonly version: number
}

interface TailOptions {
  readonly playback: Playback
  readonly poses: PoseCache
  readonly recording: string
  /** Whether to show the newest frame first. */
  readonly isAtEnd: boolean
}

/** Polls for new frames of a growing recording while the page is visible. */
export function useTail({ playback, poses, recording, isAtEnd }: TailOptions): Tail {
  const { server } = useConsole()
  const [tail, setTail] = useState<Tail>({ isGrowing: false, version: 0 })
  useEffect(() => {
    let polls = 0
    let fileWaitMs = filePollMs.min
    const read = (signal: AbortSignal) =>
      server.call<{ status: string; last_frame: number }>(
        'replay',
        'tail_recording',
        { recording, after_frame: playback.last, limit: 1 },
        { signal },
      )
    /** Shows new frames. Returns the time until the next poll, or `undefined` if the recording has ended. */
    const show = (status: string, last: number): number | undefined => {
      const isNew = last > playback.last
      const isGrowing = status === 'live' || (status === 'file' && isNew)
      if (polls === 0 && isAtEnd && status === 'live') playback.seek(playback.last)
      if (isNew) {
        poses.discard(playback.last)
        playback.extend(last)
      }
      if (isNew || polls === 0) polls++
      const version = isGrowing || polls <= 1 ? Math.floor(polls / pollsPerVersion) : polls
      setTail((oldTail) =>
        oldTail.isGrowing === isGrowing && oldTail.version === version ? oldTail : { isGrowing, version },
      )
      if (status === 'live') return pollMs
      fileWaitMs = isNew ? filePollMs.min : Math.min(2 * fileWaitMs, filePollMs.max)
      return status === 'file' ? fileWaitMs : undefined
    }
    // Remains unchanged while the server does not respond.
    let waitMs: number | undefined = pollMs
    return repeatWhileVisible(async (signal) => {
      const answer = await read(signal).catch(() => undefined)
      if (answer !== undefined && !signal.aborted) waitMs = show(answer.status, answer.last_frame)
      return waitMs
    })
  }, [recording])
  return tail
}

export function TailChip({ tail, playback }: { tail: Tail; playback: Playback }) {
  if (!tail.isGrowing) return null
  return (
    <>
      <Chip severity="warn">live</Chip>
      <TailButton playback={playback} />
    </>
  )
}

/** A separate component, so that only this button is rendered again. */
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
