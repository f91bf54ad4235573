import { serveRecording } from './serve-recording.ts'

serveRecording()
