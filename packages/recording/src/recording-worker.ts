import { type MessagePort, workerData } from 'node:worker_threads'
import { serveRecording } from './serve-recording.ts'

/** The entry of a worker without analyses of an app. */
serveRecording((workerData as { readonly port: MessagePort }).port)
