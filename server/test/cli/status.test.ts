import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { duration } from '../../src/cli/duration.ts'
import { noteRunning } from '../../src/running.ts'
import { version } from '../../src/version.ts'
import { runHere } from './run-here.ts'

const report = {
  status: 'ok',
  version,
  pid: 1,
  uptime_s: 5,
  data_dir: '/d',
  apps: { Replay: { status: 'ok' } },
}

/** A server of this process that says `health` to whoever shows the token. */
async function serverThatSays(t: Test, health: unknown, told = { version, token: 'secret-token-of-a-test' }) {
  const dir = t.testdir()
  const tokenFile = join(dir, 'tokens')
  writeFileSync(tokenFile, `# of the test\n${told.token} laptop\n`, { mode: 0o600 })
  const server = createServer(({ headers }, response) => {
    const isKnown = headers.authorization === 'Bearer secret-token-of-a-test'
    response.statusCode = isKnown ? 200 : 401
    response.end(typeof health === 'string' ? health : JSON.stringify(health))
  }).listen(0, '127.0.0.1')
  t.teardown(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  noteRunning(dir, {
    url,
    version: told.version,
    started_ms: Date.now() - 90_000,
    shutdown_ms: 1,
    token_file: tokenFile,
  })
  return { dir, url, server }
}

const status = (t: Test, dir: string, ...words: string[]) =>
  runHere(t, ['status', '--data-dir', dir, '--port', '0', ...words])

verifies('command:status', 'a server that is well, asked with the token of its own file', async (t) => {
  const { dir, url } = await serverThatSays(t, report)
  const { code, stdout, stderr } = await status(t, dir)
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, `url      ${url}/mcp\nversion  ${version}\npid      ${process.pid}\nup       1 min 3`)
  t.match(stdout, /^apps\n {2}Replay +ok$/m)
  t.notMatch(stdout, 'secret-token')
})

verifies('command:status', 'memory is told with its limit, and that it is short', async (t) => {
  const memory = { status: 'short', used_bytes: 1.5e9, limit_bytes: 1.2e9 }
  const { dir } = await serverThatSays(t, { ...report, memory })
  t.match((await status(t, dir)).stdout, /^memory {3}1\.5 GB of 1\.2 GB, short$/m)
})

verifies('command:status', 'an app that is not well is named with its reason', async (t) => {
  const apps = { Replay: { status: 'failed', message: 'the data file is damaged' } }
  const { dir } = await serverThatSays(t, { ...report, status: 'degraded', apps })
  const { code, stdout } = await status(t, dir)
  t.equal(code, 1)
  t.match(stdout, /^ {2}Replay +failed: the data file is damaged$/m)
})

verifies('command:status', 'one that refuses, says something else, or says nothing', async (t) => {
  const refusing = await serverThatSays(t, report, { version, token: 'a-token-of-last-week' })
  t.match(await status(t, refusing.dir), { code: 1, stderr: /wants a token/ })
  const other = await serverThatSays(t, '<html>')
  t.match(await status(t, other.dir), { code: 1, stderr: /does not answer \(HTTP 200\)/ })
  const silent = await serverThatSays(t, report)
  silent.server.close()
  await once(silent.server, 'close')
  const { code, stdout, stderr } = await status(t, silent.dir)
  t.match({ code, stderr }, { code: 1, stderr: /does not answer \(ECONNREFUSED\); see causeway logs/ })
  t.match(stdout, /^status {3}unknown$/m)
})

verifies('command:status', 'an old server is told apart from this program', async (t) => {
  const { dir } = await serverThatSays(t, report, { version: '0.0.9', token: 'secret-token-of-a-test' })
  t.match(await status(t, dir), { code: 0, stderr: `this program is version ${version}: stop the server` })
})

verifies('command:status', 'as JSON', async (t) => {
  const { dir, url } = await serverThatSays(t, report)
  t.match(JSON.parse((await status(t, dir, '--json')).stdout), { running: true, server: { url }, report })
  const none = await status(t, join(dir, 'none'), '--json')
  t.equal(none.code, 3)
  t.same(JSON.parse(none.stdout), { running: false, server: null, report: null })
})

t.test('duration: the two greatest units', async (t) => {
  const said = [0, 59.6, 61, 3600, 3725, 90_000, 86_400].map(duration)
  t.same(said, ['0 s', '1 min', '1 min 1 s', '1 h', '1 h 2 min', '1 d 1 h', '1 d'])
})
