import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { WorkerMethods } from '../reader/worker-methods.ts'
import type { RecorderMethods } from '../recorder/recorder-methods.ts'

export type RecordingWorker = WorkerLink<WorkerMethods>

/** Starts a worker with this entry file, which calls `serveRecording`. The default has no analyses. */
export function startRecordingWorker(
  entry: URL = resolveWorkerFile('../reader/recording-worker', import.meta.url),
): RecordingWorker {
  return new WorkerLink<WorkerMethods>(entry, { name: 'the worker that reads the recording' })
}

export type RecorderWorker = WorkerLink<RecorderMethods>

export const startRecorderWorker = (): RecorderWorker =>
  new WorkerLink<RecorderMethods>(resolveWorkerFile('../recorder/recorder-worker', import.meta.url), {
    name: 'the worker that records',
  })
