import { useState } from 'preact/hooks'
import { type ServerError, toServerError } from '../data/server.ts'
import { useConsole } from './console.ts'
import { Chip } from './state.tsx'

export function CaptureBadge() {
  const { capture } = useConsole()
  const state = capture.state.value
  if (state === undefined) return null
  return (
    <>
      <a href={`/traffic#filter=${encodeURIComponent(`session:${state.session}`)}`}>
        <Chip severity="err">capturing · {state.calls}</Chip>
      </a>
      <CaptureButton session={state.session} />
    </>
  )
}

/** Starting needs a second click, because calls can contain other people's data. */
export function CaptureButton({ session }: { session: string }) {
  const { capture } = useConsole()
  const [isAsking, setAsking] = useState(false)
  const [failure, setFailure] = useState<ServerError>()
  const run = (request: Promise<void>): void => {
    setAsking(false)
    request.then(
      () => setFailure(undefined),
      (error: unknown) => setFailure(toServerError(error)),
    )
  }
  return (
    <>
      {failure !== undefined && <Chip severity="err">{failure.code}</Chip>}
      {capture.state.value?.session === session ? (
        <button type="button" class="button" onClick={() => run(capture.stop())}>
          Stop capturing
        </button>
      ) : isAsking ? (
        <button
          type="button"
          class="button danger"
          onClick={() => run(capture.start(session))}
          onBlur={() => setAsking(false)}
        >
          Keep arguments and answers for 10 minutes
        </button>
      ) : (
        <button type="button" class="button" onClick={() => setAsking(true)}>
          Capture calls
        </button>
      )}
    </>
  )
}
