import { useConsole } from '../../ui/console.ts'
import { LoadedView, useLoaded } from '../../ui/state.tsx'

/** A frame that the server drew, for browsers without WebGL. */
export function DrawnFrame({ recording, frame }: { recording: string; frame: number }) {
  const { server } = useConsole()
  const picture = useLoaded(
    async (signal) => {
      const args = { recording, frame_id: frame }
      const { content, error } = await server.callTool('replay', 'render_frame', args, { signal })
      if (error !== undefined) throw error
      return content.find(({ type }) => type === 'image')
    },
    [recording],
    { version: frame },
  )
  return (
    <>
      <p class="stage-banner">This browser has no WebGL. The server draws each frame when it is shown.</p>
      <LoadedView loaded={picture}>
        {(picture) =>
          picture !== undefined && (
            <img
              class="drawn-frame"
              src={`data:${picture.mimeType};base64,${picture.data}`}
              alt="The frame, from the front"
            />
          )
        }
      </LoadedView>
    </>
  )
}
