export type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
export { type Call, type HandlersOf, type ServeOptions, serve } from './serve.ts'
export { type CallOptions, inWorker, startWorker, type WorkerAbout, type WorkerLink } from './start-worker.ts'
export { workerFile } from './worker-file.ts'
