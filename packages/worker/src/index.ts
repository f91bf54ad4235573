export { type Caller, CallQueue, type QueueOptions } from './call-queue.ts'
export { inSlices, type SliceOptions } from './in-slices.ts'
export type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
export { type RestingWorkers, restingWorkers } from './resting-workers.ts'
export { type Call, type HandlersOf, type ServeOptions, serve } from './serve.ts'
export { type SharedTasks, sharedTasks } from './shared-task.ts'
export { SharedWorker } from './shared-worker.ts'
export {
  type CallOptions,
  inWorker,
  type SendOptions,
  startWorker,
  type WorkerAbout,
  type WorkerLink,
} from './start-worker.ts'
export { stepBack } from './step-back.ts'
export { workerFile } from './worker-file.ts'
export { type PoolOptions, WorkerPool } from './worker-pool.ts'
