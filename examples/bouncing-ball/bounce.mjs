/** The simulation of bounce.py in JavaScript. Usage: node bounce.mjs <name of the recording> */

const server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'
const [name] = process.argv.slice(2)
if (name === undefined) exit('usage: node bounce.mjs <name of the recording>')
const [mass, radius, restitution, g, dt] = [1, 0.1, 0.8, 9.81, 0.01]

function exit(message) {
  console.error(message)
  process.exit(1)
}

/** Sends lines of JSON to the recorder of Causeway. */
async function send(path, lines = []) {
  const url = `${server}/api/apps/replay/recordings/${encodeURIComponent(name)}/${path}`
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await fetch(url, { method: 'POST', headers, body }).catch((error) =>
    exit(`${server} does not respond (${error.cause?.code}): run npm start, or set CAUSEWAY_URL`),
  )
  const result = await response.json()
  if (!response.ok) exit(`${result.message}: ${result.remedy}`)
  return result
}

const bodies = [
  { id: 1, mass, restitution },
  { id: 2, is_environment: true },
]
const lines = [{ run: { dt, gravity: [0, 0, -g], bodies } }]

let [z, velocity] = [1, 0]
for (let frame = 1; frame <= 300; frame++) {
  velocity -= g * dt
  let contacts = []
  if (velocity < 0 && z + velocity * dt < radius) {
    velocity = -velocity / restitution
    contacts = [{ a: 1, b: 2, normal: [0, 0, -1], points: [{ point: [0, 0, 0], restitution }] }]
  }
  z += velocity * dt
  const state = {
    id: 1,
    position: [0, 0, z],
    velocity: [0, 0, velocity],
    orientation: [1, 0, 0, 0],
    angular_velocity: [0, 0, 0],
  }
  lines.push({ frame_id: frame, time: frame * dt, bodies: [state], contacts })
}

await send('frames', lines)
const run = await send('finish')
console.log(`${run.recording}: ${run.total_frames} frames, ${run.status}`)
