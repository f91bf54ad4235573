/**
 * Finds why "body 1 slides at frame 45", as a model does: through the bridge, choosing each call by the previous result.
 * Usage: node story.mjs [recording] [server], by default slide_at_45 on http://localhost:3100.
 * `CAUSEWAY_BRIDGE` is the path of another bridge.
 */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const [recording = 'slide_at_45', server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'] =
  process.argv.slice(2)
const program = process.env.CAUSEWAY_BRIDGE ?? fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))
const args = [...process.execArgv, program]
const bridge = spawn(process.execPath, args, {
  env: { ...process.env, MCP_SERVER_URL: `${server}/mcp` },
  stdio: ['pipe', 'pipe', 'inherit'],
})
const waiting = new Map()
createInterface({ input: bridge.stdout }).on('line', (line) => {
  const message = JSON.parse(line)
  waiting.get(message.id)?.(message)
})
bridge.once('exit', (code) => {
  for (const answer of waiting.values()) answer({ error: { message: `the bridge ended with ${code}` } })
})

let calls = 0
const send = (message) => bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

/** Sends a request and returns its result. */
async function request(id, method, params) {
  const answered = new Promise((resolve) => waiting.set(id, resolve))
  send({ id, method, params })
  const { result, error } = await answered
  waiting.delete(id)
  if (error !== undefined) throw new Error(error.message)
  return result
}

/** Calls a tool of Replay; throws the server's own words where it fails. */
async function call(tool, toolArguments) {
  calls += 1
  const result = await request(calls, 'tools/call', { name: `Replay__${tool}`, arguments: toolArguments })
  if (result.isError) throw new Error(result.content[0].text)
  console.log(`${calls}. ${tool} ${JSON.stringify(toolArguments)}`)
  return result
}

/** From the symptom to the cause. */
async function investigate() {
  const clientInfo = { name: 'find-the-slide', version: '1' }
  await request('open', 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  send({ method: 'notifications/initialized' })

  const { structuredContent: diagnosis } = await call('diagnose', { recording })
  const [cause] = diagnosis.findings
  if (cause === undefined) return console.log('Nothing is wrong with this recording.')
  const { first } = cause.frames
  const { structuredContent: explained } = await call('explain_frame', { recording, frame_id: first })

  // The finding says itself which call proves it.
  const proof = cause.evidence_calls.find((text) => !text.startsWith('explain_frame'))
  if (proof !== undefined) {
    const [tool] = proof.split(' ', 1)
    await call(tool, { recording, ...JSON.parse(proof.slice(tool.length)) })
  }
  const { content } = await call('render_frame', { recording, frame_id: first })
  const picture = join(tmpdir(), `${recording}-${first}.png`)
  await writeFile(picture, content.find(({ type }) => type === 'image').data, 'base64')

  const [contact] = explained.contacts
  const forces =
    contact === undefined
      ? ''
      : ` Friction pushes with ${Math.round(contact.tangent_force_n)} N where the contact carries ${contact.normal_force_n.toFixed(1)} N.`
  console.log(
    `\nCause, found in ${calls} calls: ${cause.kind} of bodies ${cause.bodies.join(' and ')} in frame ${first}, ${cause.value.toFixed(1)} ${cause.unit}.${forces}`,
  )
}

await investigate().catch((error) => {
  console.error(`story: ${error.message}`)
  process.exitCode = 1
})
bridge.stdin.end()
