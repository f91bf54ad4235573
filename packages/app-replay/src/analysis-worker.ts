/** The entry of the workers that hold a recording: reading it, and the analyses that run near the data. */
import { serveRecording } from '@causeway/recording/worker'
import { analyses } from './analysis/analyses.ts'

serveRecording(analyses, [new URL('./analysis/', import.meta.url), new URL('./domain/', import.meta.url)])
