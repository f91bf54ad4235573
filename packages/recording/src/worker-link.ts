import { startWorker, type WorkerLink, workerFile } from '@causeway/worker'
import type { RecorderMethods } from './recorder/recorder-methods.ts'
import type { WorkerMethods } from './worker-methods.ts'

/** A worker that copies or reads one recording at a time. */
export type RecordingWorker = WorkerLink<WorkerMethods>

/** Starts a worker of this entry file, which calls `serveRecording`; the default one brings no analyses. */
export function startRecordingWorker(
  entry: URL = workerFile('recording-worker', import.meta.url),
): RecordingWorker {
  return startWorker<WorkerMethods>(entry, { name: 'the worker that reads the recording' })
}

/** A worker that records one run at a time, or converts one. */
export type RecorderWorker = WorkerLink<RecorderMethods>

/** Starts a worker that records. */
export const startRecorderWorker = (): RecorderWorker =>
  startWorker<RecorderMethods>(workerFile('recorder/recorder-worker', import.meta.url), {
    name: 'the worker that records',
  })
