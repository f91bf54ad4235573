/**
 * Asks Replay what went wrong in a recording, over plain HTTP, and prints the diagnosis.
 * Usage: node story.mjs [recording] [server], by default slide_at_45 on http://localhost:3100. Node 18 or newer.
 */
const [recording = 'slide_at_45', server = 'http://localhost:3100'] = process.argv.slice(2)
const session = `story-${process.pid}`
let lastId = 0

/** Calls a tool as any MCP client does; the answer's data, or an error with the server's own words. */
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

/** Loads the recording, finds where energy came from nowhere, and looks at that frame. */
async function diagnose() {
  const { summary } = await call('load_recording', { path: recording })
  console.log(summary)

  const { anomalies } = await call('find_energy_anomalies')
  const [worst] = anomalies
    .filter(({ kind }) => kind === 'injection')
    .sort((one, other) => other.delta_e - one.delta_e)
  if (worst === undefined) return console.log('No energy came from nowhere.')
  const { frame_id, delta_e, per_body } = worst
  const bodies = per_body.map(({ body_id }) => body_id).join(', ')
  console.log(`Frame ${frame_id}: ${delta_e.toFixed(2)} J came from nowhere; body ${bodies} has them.`)

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
