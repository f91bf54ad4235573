/** Has no analyses of an app. */
import { serveRecording } from './serve-recording.ts'

serveRecording()
