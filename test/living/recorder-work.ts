import { frameLines, runLine } from '../../packages/recording/test/run-lines.ts'
import { getJson } from '../e2e/http.ts'
import { CallError, tool, type Work } from './work.ts'

const route = '/api/apps/replay/recordings/living'
const perRequest = 20

/** Sends frames to the recorder. */
export function recorderWork(): Work<number> {
  /** The last acknowledged frame, and the last frame on the server. */
  let [acknowledged, last] = [0, 0]
  return {
    name: 'recordings',
    begin: async () => {},
    async step({ url }) {
      const body = [runLine, ...frameLines(last + 1, last + perRequest)].map((line) => `${line}\n`).join('')
      const response = await fetch(`${url}${route}/frames`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
      const json = JSON.parse(await response.text())
      if (response.status !== 200) throw new CallError('frames', { ...response, json })
      acknowledged = last = json.last_frame_id
    },
    promised: () => acknowledged,
    async check(t, { url }, promised) {
      const { json } = await getJson(url, route)
      if (promised === 0 && json.code === 'RECORDING_NOT_FOUND') return
      t.ok(
        json.last_frame_id >= promised,
        `frame ${promised} was acknowledged, ${json.last_frame_id} is stored`,
      )
      t.equal(json.total_frames, json.last_frame_id, 'no frame is missing or duplicated')
      last = json.last_frame_id
      if (last === 0) return
      const frame = await tool(url, ['replay', 'get_frame'], { recording: 'living', frame_id: last })
      t.equal(frame.states.length, 2, 'the last frame is complete')
    },
  }
}
