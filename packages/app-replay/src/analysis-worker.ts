/** The entry of the workers that hold a recording: reading it, and the analyses that run near the data. */
import { type MessagePort, workerData } from 'node:worker_threads'
import { serveRecording } from '@causeway/recording/worker'
import { analyses } from './analysis/analyses.ts'

serveRecording((workerData as { readonly port: MessagePort }).port, analyses)
