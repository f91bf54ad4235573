import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { RecorderMethods } from './recorder-methods.ts'

export type RecorderWorker = WorkerLink<RecorderMethods>

export const startRecorderWorker = (): RecorderWorker =>
  new WorkerLink<RecorderMethods>(resolveWorkerFile('./recorder-worker', import.meta.url), {
    name: 'the worker that records',
  })
