/** A worker without an app's analyses. */
import { serveRecording } from './serve-recording.ts'

serveRecording()
