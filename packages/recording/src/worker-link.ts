import { startWorker, type WorkerLink, workerFile } from '@causeway/worker'
import type { WorkerMethods } from './worker-methods.ts'

/** A worker that copies, reads or records one recording at a time. */
export type RecordingWorker = WorkerLink<WorkerMethods>

/** Starts a worker of this entry file, which calls `serveRecording`; the default one brings no analyses. */
export function startRecordingWorker(
  entry: URL = workerFile('recording-worker', import.meta.url),
): RecordingWorker {
  return startWorker<WorkerMethods>(entry, { name: 'the worker that reads the recording' })
}
