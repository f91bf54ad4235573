import { useEffect, useState } from 'preact/hooks'
import { useConsole } from '../../ui/console.ts'
import type { Playback } from './playback.ts'

/** A frame as the server draws it, for browsers without WebGL. */
export function DrawnFrame({ playback, recording }: { playback: Playback; recording: string }) {
  const { server } = useConsole()
  const [source, setSource] = useState('')
  useEffect(
    () =>
      playback.restingFrame.subscribe((frame_id) => {
        void server.callForAnswer('replay', 'render_frame', { recording, frame_id }).then(({ content }) => {
          const picture = content.find(({ type }) => type === 'image')
          if (picture !== undefined) setSource(`data:${picture.mimeType};base64,${picture.data}`)
        })
      }),
    [recording],
  )
  return (
    <>
      <p class="stage-banner">This browser has no WebGL. The server draws each frame when it is shown.</p>
      {source !== '' && <img class="drawn-frame" src={source} alt="The frame, from the front" />}
    </>
  )
}
