import { useEffect, useState } from 'preact/hooks'
import type { FrameAnswer, Metadata } from '../../data/replay.ts'
import { listVelocities, type Velocities } from '../../domain/bodies.ts'
import { useConsole } from '../../ui/console.ts'
import type { ShownFrame } from './stage-view.tsx'

/** Time without a change after which velocities are read, in ms. */
const restMs = 80

/** The velocities of the shown frame, while they are on and the frame does not change. */
export function useVelocities({ recording, bodies }: Metadata, shown: ShownFrame, isOn: boolean) {
  const { server } = useConsole()
  const [velocities, setVelocities] = useState<Velocities>()
  useEffect(() => {
    setVelocities(undefined)
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = shown.frame.subscribe((frame_id) => {
      clearTimeout(timer)
      setVelocities(undefined)
      timer = setTimeout(async () => {
        // A frame that is not recorded has no velocities.
        const frame = await server
          .call<FrameAnswer>('replay', 'get_frame', { recording, frame_id, max_points: bodies.length })
          .catch(() => undefined)
        if (frame !== undefined && shown.frame.peek() === frame_id) setVelocities(listVelocities(frame))
      }, restMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [recording, shown, isOn])
  return velocities
}
