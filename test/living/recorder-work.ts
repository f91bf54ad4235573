import { frameLines, runLine } from '../../packages/recording/test/run-lines.ts'
import { getJson } from '../e2e/http.ts'
import { Refused, tool, type Work } from './work.ts'

const route = '/api/apps/replay/recordings/living'
const perRequest = 20

/** An engine that sends frames to the recorder. */
export function recorderWork(): Work<number> {
  /** the last frame that was acknowledged, and that the server has */
  let [acknowledged, last] = [0, 0]
  return {
    name: 'recordings',
    begin: async () => {},
    async step({ url }) {
      const body = [runLine, ...frameLines(last + 1, last + perRequest)].map((line) => `${line}\n`).join('')
      const answer = await fetch(`${url}${route}/frames`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
      const json = JSON.parse(await answer.text())
      if (answer.status !== 200) throw new Refused('frames', { ...answer, json })
      acknowledged = last = json.last_frame_id
    },
    promised: () => acknowledged,
    async check(t, { url }, promised) {
      const { json } = await getJson(url, route)
      if (promised === 0 && json.code === 'RECORDING_NOT_FOUND') return
      t.ok(
        json.last_frame_id >= promised,
        `frame ${promised} was acknowledged, ${json.last_frame_id} is there`,
      )
      t.equal(json.total_frames, json.last_frame_id, 'no frame is missing or doubled')
      last = json.last_frame_id
      if (last === 0) return
      const frame = await tool(url, ['replay', 'get_frame'], { recording: 'living', frame_id: last })
      t.equal(frame.states.length, 2, 'the last frame is whole')
    },
  }
}
