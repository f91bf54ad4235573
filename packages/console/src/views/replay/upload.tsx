import { useEffect, useRef, useState } from 'preact/hooks'
import { ServerError, toServerError } from '../../data/server.ts'
import { uploadRecording } from '../../data/upload.ts'
import { formatBytes, formatCount } from '../../domain/text.ts'
import { toPercent, toRecordingName } from '../../domain/upload.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { ErrorNotice } from '../../ui/state.tsx'
import './replay.css'

interface UploadProps {
  readonly folders: readonly string[]
  readonly onUploaded: () => void
}

type UploadState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly name: string; readonly sentBytes: number; readonly total: number }
  | { readonly phase: 'cancelled'; readonly name: string }
  | { readonly phase: 'failed'; readonly error: ServerError }
  | {
      readonly phase: 'done'
      readonly recording: string
      readonly frames: number
      readonly isTruncated: boolean
    }

export function Upload({ folders, onUploaded }: UploadProps) {
  const [name, setName] = useState('')
  const { state, upload, cancel } = useUpload({ folders, onUploaded })
  const input = useRef<HTMLInputElement>(null)
  const uploadFiles = (files: FileList | null | undefined): void =>
    void upload([...(files ?? [])], name.trim())
  const isDragging = useFileDrop(uploadFiles)
  const isBusy = state.phase === 'running'
  return (
    <section class={`stack upload ${isDragging ? 'dragging' : ''}`} aria-label="Add a recording">
      <div class="row">
        <span>Drop a recording onto this page, or choose one: JSON lines, MCAP or SQLite.</span>
        <input
          class="upload-name"
          aria-label="Name of the new recording"
          value={name}
          placeholder="Name, by default of the file"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button type="button" class="button" disabled={isBusy} onClick={() => input.current?.click()}>
          Choose a file…
        </button>
        <input
          ref={input}
          type="file"
          hidden
          accept=".jsonl,.ndjson,.json,.mcap,.db,.sqlite"
          onChange={({ currentTarget }) => {
            uploadFiles(currentTarget.files)
            currentTarget.value = ''
          }}
        />
        {state.phase === 'running' && (
          <button type="button" class="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
      <UploadStatus state={state} />
      <details>
        <summary>Other files</summary>
        <p>
          Copy files of other tools and ROS 2 bags into a folder that the server searches. Copy a database
          there too if its meshes matter: an upload contains only their sizes. Folders:{' '}
          <ForeignText text={folders.join(', ')} max={2000} />
        </p>
      </details>
    </section>
  )
}

function UploadStatus({ state }: { state: UploadState }) {
  if (state.phase === 'failed') return <ErrorNotice error={state.error} />
  return (
    <div role="status" class="row" data-upload={state.phase}>
      {state.phase === 'running' && (
        <>
          <progress aria-label="Upload" max={state.total} value={state.sentBytes} />
          <span>
            <ForeignText text={state.name} max={64} />: {toPercent(state.sentBytes, state.total)} % of{' '}
            {formatBytes(state.total)}
          </span>
        </>
      )}
      {state.phase === 'cancelled' && (
        <span>
          The upload of <ForeignText text={state.name} max={64} /> was cancelled. Nothing was stored.
        </span>
      )}
      {state.phase === 'done' && (
        <span>
          Stored{' '}
          <a href={`/replay/${encodeURIComponent(state.recording)}`}>
            <ForeignText text={state.recording} />
          </a>{' '}
          with {formatCount(state.frames)} frames.
          {state.isTruncated && ' The end of the file is missing.'}
        </span>
      )}
    </div>
  )
}

/** Runs one upload at a time. Cancels it when the page is left. */
function useUpload({ folders, onUploaded }: UploadProps) {
  const { server } = useConsole()
  const [state, setState] = useState<UploadState>({ phase: 'idle' })
  const uploadController = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => uploadController.current?.abort(), [])
  const upload = async (files: readonly File[], chosenName: string): Promise<void> => {
    const [file] = files
    if (file === undefined || uploadController.current !== undefined) return
    if (files.length > 1) return setState({ phase: 'failed', error: createManyFilesError(files.length) })
    const name = chosenName === '' ? toRecordingName(file.name) : chosenName
    const controller = new AbortController()
    uploadController.current = controller
    const show = (sentBytes: number): void => {
      if (!controller.signal.aborted) setState({ phase: 'running', name, sentBytes, total: file.size })
    }
    show(0)
    try {
      const options = { name, folders, signal: controller.signal, onProgress: show }
      const { recording, total_frames, status } = await uploadRecording(server, file, options)
      setState({ phase: 'done', recording, frames: total_frames, isTruncated: status !== 'finished' })
      onUploaded()
    } catch (error) {
      const isCancelled = error === controller.signal.reason
      setState(isCancelled ? { phase: 'cancelled', name } : { phase: 'failed', error: toServerError(error) })
    } finally {
      uploadController.current = undefined
    }
  }
  return { state, upload, cancel: () => uploadController.current?.abort() }
}

const createManyFilesError = (count: number): ServerError =>
  new ServerError({
    code: 'INVALID_ARGUMENTS',
    message: `${count} files were dropped`,
    remedy: 'drop one file at a time',
  })

function useFileDrop(uploadFiles: (files: FileList | undefined) => void): boolean {
  const [isDragging, setDragging] = useState(false)
  const latest = useRef(uploadFiles)
  latest.current = uploadFiles
  useEffect(() => {
    const controller = new AbortController()
    const listen = (type: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => void): void =>
      addEventListener(
        type,
        (event) => {
          if (event.dataTransfer?.types.includes('Files')) handle(event)
        },
        controller,
      )
    listen('dragover', (event) => {
      event.preventDefault()
      setDragging(true)
    })
    listen('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) setDragging(false)
    })
    listen('drop', (event) => {
      event.preventDefault()
      setDragging(false)
      latest.current(event.dataTransfer?.files)
    })
    return () => controller.abort()
  }, [])
  return isDragging
}
