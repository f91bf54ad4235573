/**
 * Asks Replay what went wrong in a recording, over plain HTTP, and prints the diagnosis.
 * Usage: node story.mjs [recording] [server], by default slide_at_45 on http://localhost:3100. Node 18 or newer.
 */
const [recording = 'slide_at_45', server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'] =
  process.argv.slice(2)
const session = `story-${process.pid}`
let lastId = 0

/** Calls a tool of Replay over MCP and returns its data. Throws the error of the tool. */
async function call(tool, args = {}) {
  lastId += 1
  const response = await fetch(`${server}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Causeway-Session': session },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: lastId,
      method: 'tools/call',
      params: { name: `Replay__${tool}`, arguments: args },
    }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(error.message)
  if (result.isError) throw new Error(result.content[0].text)
  return result.structuredContent
}

/** Loads the recording, finds the frame that gains energy without a cause, and reads it. */
async function diagnose() {
  const { summary } = await call('load_recording', { path: recording })
  console.log(summary)

  const { anomalies } = await call('find_energy_anomalies')
  const [worst] = anomalies
    .filter(({ kind }) => kind === 'injection')
    .sort((one, other) => other.delta_e - one.delta_e)
  if (worst === undefined) return console.log('No energy was gained without a cause.')
  const { frame_id, delta_e, per_body } = worst
  const bodies = per_body.map(({ body_id }) => body_id).join(', ')
  console.log(`Frame ${frame_id}: body ${bodies} gains ${delta_e.toFixed(2)} J without a cause.`)

  const { states } = await call('get_frame', { frame_id })
  for (const { body_id, velocity } of states) {
    const speed = Math.hypot(velocity.x, velocity.y, velocity.z)
    console.log(`Body ${body_id} moves at ${speed.toFixed(2)} m/s.`)
  }

  const cone = await call('check_friction_cone', { frame_id })
  console.log(`Friction cone: ${cone.summary}`)
}

diagnose().catch((error) => {
  console.error(`story: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
})
