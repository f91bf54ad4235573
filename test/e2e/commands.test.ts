import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runHere } from '../../server/test/cli/run-here.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { postJson } from './http.ts'
import { startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(120_000)

const dir = t.testdir({ data: {}, other: {} })
const data = join(dir, 'data')
const { server, url } = await startServer(t, { dir: data, env: writeProbeApp(dir).env })
const here = (...argv: string[]) => runHere(t, [...argv, '--data-dir', data])

verifies('command:status', 'of a running server', async (t) => {
  const { code, stdout, stderr } = await here('status')
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, `url      ${url}/mcp\n`)
  t.match(stdout, `pid      ${server.process.pid}\n`)
  t.match(stdout, /^ {2}Replay +ok$/m)
})

verifies('command:status:other-folder', async (t) => {
  const port = new URL(url).port
  const { code, stderr } = await runHere(t, ['status', '--data-dir', join(dir, 'other'), '--port', port])
  t.equal(code, 3)
  t.match(stderr, `causeway status --data-dir ${data}`)
})

verifies('command:stop', async (t) => {
  const file = join(dir, 'go')
  const answered = postJson(url, '/api/apps/probe/tools/linger', { file })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  const stopping = here('stop')
  await server.saw('stopping')
  writeFileSync(file, '')
  t.equal((await answered).status, 200, 'the call under way ended')
  t.match(await stopping, { code: 0, stdout: `stopped: pid ${server.process.pid}, ${url}\n` })
  t.same(await server.exited, { code: 0, signal: null })
  t.match(await here('stop'), { code: 0, stdout: /^not running/ })
})
