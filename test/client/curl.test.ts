import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(300_000)

const { url } = await startServer(t, { dir: t.testdir() })
const run = promisify(execFile)

/** Runs a documented shell command with the port of the test instead of the default port. */
async function shell(line: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', line.replaceAll('http://localhost:3100', url)])
  return stdout
}

verifies('client:curl', async (t) => {
  const call = (params: string) => `curl -s -X POST http://localhost:3100/mcp \\
    -H "Content-Type: application/json" \\
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}'`
  const [anomalies, frame, cone] = [
    '{"name":"Replay__find_energy_anomalies","arguments":{"recording":"slide_at_45"}}',
    '{"name":"Replay__get_frame","arguments":{"recording":"slide_at_45","frame_id":45}}',
    '{"name":"Replay__check_friction_cone","arguments":{"recording":"slide_at_45","frame_id":45}}',
  ].map(call) as [string, string, string]

  const found = JSON.parse(await shell(anomalies)).result.structuredContent
  t.match(
    found.anomalies.find(({ kind }: { kind: string }) => kind === 'injection'),
    { frame_id: 45 },
  )
  const seen = JSON.parse(await shell(frame)).result.structuredContent
  t.match(seen.friction_constraints[0], { body_a_id: 1, body_b_id: 2 + 2 ** 31 })
  const judged = JSON.parse(await shell(cone)).result.structuredContent
  t.match(judged, { recording: 'slide_at_45', frame_id: 45, violation_count: 4 })
})

verifies('client:curl', 'the three original commands work unchanged', async (t) => {
  const initialize = await shell(`curl -X POST http://localhost:3100/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"clientInfo": {"name": "test"}}
  }'`)
  t.match(JSON.parse(initialize), { id: 1, result: { serverInfo: { name: 'causeway' } } })
  const list = await shell(`curl -X POST http://localhost:3100/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {}
  }'`)
  t.ok(JSON.parse(list).result.tools.length >= 15)
  const call = await shell(`curl -X POST http://localhost:3100/mcp \\
  -H "Content-Type: application/json" \\
  -d '{
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {
      "name": "Replay__list_recordings",
      "arguments": {}
    }
  }'`)
  t.match(JSON.parse(call), { id: 3, result: { structuredContent: { count: Number, recordings: Array } } })
})

t.test('curl: REST returns only the data, and a failure has an HTTP error status', async (t) => {
  const body = `-H 'Content-Type: application/json' -d '{"frame_id":45}'`
  const path = 'http://localhost:3100/api/apps/replay/tools/check_friction_cone'
  const failed = await shell(`curl -s -w '\\n%{http_code}' ${body} ${path}`)
  const [json = '', status] = failed.split('\n')
  t.equal(status, '409')
  t.match(JSON.parse(json), { code: 'NO_RECORDING', remedy: /load_recording/ })
  const withRecording = body.replace('}', ',"recording":"slide_at_45"}')
  t.match(JSON.parse(await shell(`curl -s ${withRecording} ${path}`)), {
    recording: 'slide_at_45',
    frame_id: 45,
  })
})
