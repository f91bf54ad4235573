/** Measures how fast the recorder accepts frames over HTTP, and how long a flush delays the engine. */
import { Pool } from 'undici'
import type { Program } from '../program.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { interleaved, median } from '../rounds.ts'

const rounds = 5
const frames = 6000
const bodies = 20
/** Body-frames per second. */
const aim = { least: 200_000 }

/** Returns the lines of a run: falling bodies, with four contact points on the floor for `resting` of them. */
function lines(count: number, resting: number): Buffer {
  const ids = Array.from({ length: bodies }, (_, i) => i + 1)
  const point = { point: [0.5, 0.5, 0.25], depth: 0.001, friction_coefficient: 0.5, tangent1: [1, 0, 0] }
  const force = { tangent2: [0, 1, 0], normal_lambda: 0.15696, tangent1_lambda: 0.01, tangent2_lambda: 0.02 }
  const touching = ids.slice(0, resting)
  const run = {
    gravity: [0, 0, -9.81],
    bodies: [...ids.map((id) => ({ id, mass: id })), { id: 99, is_environment: true }],
  }
  const text = [JSON.stringify({ run })]
  for (let frame_id = 1; frame_id <= count; frame_id++) {
    const t = frame_id / 60
    text.push(
      JSON.stringify({
        frame_id,
        time: t,
        bodies: ids.map((id) => ({
          id,
          position: [id + Math.sin(t), Math.cos(t), 10 - t],
          velocity: [Math.cos(t), -Math.sin(t), -9.81 * t],
          orientation: [Math.cos(t / 2), 0, 0, Math.sin(t / 2)],
          angular_velocity: [0, 0, 1],
        })),
        contacts: touching.map((a) => ({
          a,
          b: 99,
          normal: [0, 0, -1],
          points: Array(4).fill({ ...point, ...force }),
        })),
        solver: { iterations: 12, residual: 1e-9, converged: true },
      }),
    )
  }
  return Buffer.from(`${text.join('\n')}\n`)
}

/** Sends runs of 20 bodies as fast as they are accepted: in free fall, and with contacts. */
export async function measureIngest(causeway: Program): Promise<Section> {
  const pool = new Pool(causeway.url, { connections: 1 })
  let runs = 0
  const seconds = async (body: Buffer): Promise<number> => {
    runs += 1
    const path = `/api/apps/replay/recordings/bench-${runs}`
    const before = performance.now()
    const answer = await pool.request({ method: 'POST', path: `${path}/frames`, body })
    const { accepted } = (await answer.body.json()) as { readonly accepted: number }
    const taken = (performance.now() - before) / 1000
    if (accepted !== frames) throw new Error(`the recorder took ${accepted} of ${frames} frames`)
    const removed = await pool.request({ method: 'DELETE', path })
    await removed.body.dump()
    return taken
  }
  const kinds = [
    { name: 'in free fall', body: lines(frames, 0) },
    { name: 'with 20 contact points', body: lines(frames, 5) },
  ]
  const measured = await interleaved(
    kinds.map(({ name, body }) => ({ name, run: () => seconds(body) })),
    rounds,
  )
  await pool.close()
  return {
    title: 'Recording',
    about: `Over HTTP, ${rounds} runs of ${frames} frames with ${bodies} bodies of each kind, until every frame is stored.`,
    head: ['', 'body-frames/s', 'MB of lines/s', 'aim, body-frames/s'],
    rows: kinds.map(({ name, body }) => {
      const s = median(measured.get(name) ?? [])
      return [name, held((frames * bodies) / s, aim), number(body.length / 1e6 / s), limitText(aim)]
    }),
  }
}
