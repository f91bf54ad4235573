import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { WorkerMethods } from './worker-methods.ts'

export type RecordingWorker = WorkerLink<WorkerMethods>

export function startRecordingWorker(
  entry: URL = resolveWorkerFile('./recording-worker', import.meta.url),
): RecordingWorker {
  return new WorkerLink<WorkerMethods>(entry, { name: 'the worker that reads the recording' })
}
