import { useEffect, useState } from 'preact/hooks'
import type { FrameResult, Metadata } from '../../data/replay.ts'
import { retryUnavailable } from '../../data/server.ts'
import { listVelocities, type Velocities } from '../../domain/bodies.ts'
import { useConsole } from '../../ui/console.ts'
import type { ShownFrame } from './stage-view.tsx'

/** Time without a change before velocities are requested, in ms. */
const restMs = 80

/** Returns the velocities of the shown frame, if `isOn` is set and the frame does not change. */
export function useVelocities({ recording, bodies }: Metadata, shown: ShownFrame, isOn: boolean) {
  const { server } = useConsole()
  const [velocities, setVelocities] = useState<Velocities>()
  useEffect(() => {
    setVelocities(undefined)
    if (!isOn) return
    let controller = new AbortController()
    const stop = shown.frame.subscribe((frame_id) => {
      controller.abort()
      controller = new AbortController()
      const { signal } = controller
      const args = { recording, frame_id, max_points: bodies.length }
      const read = () => server.call<FrameResult>('replay', 'get_frame', args)
      setVelocities(undefined)
      setTimeout(() => {
        if (signal.aborted) return
        // The request fails for a frame that is not recorded.
        retryUnavailable(read, signal).then(
          (frame) => signal.aborted || setVelocities(listVelocities(frame)),
          () => {},
        )
      }, restMs)
    })
    return () => {
      stop()
      controller.abort()
    }
  }, [recording, shown, isOn])
  return velocities
}
