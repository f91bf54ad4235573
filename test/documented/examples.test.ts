import { cpSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fromSource } from '../../bridge/test/client.ts'
import { startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { shellBlocks } from './blocks.ts'
import { run } from './program.ts'

t.setTimeout(900_000)

const folders = t.testdir({
  example: { data: {}, projects: {} },
  findTheSlide: {},
  helpExample: {},
  recordExample: {},
})

const node = `'${process.execPath}'`
const folder = `${folders}/example`
cpSync(`${repository}/fixtures/projects`, `${folder}/projects`, { recursive: true })
const { url } = await startServer(t, {
  dir: `${folder}/data`,
  cwd: repository,
  env: {
    CAUSEWAY_USER_APPS: './examples/hello-app/app.ts',
    CAUSEWAY_TRM_ROOTS: `${folder}/projects`,
  },
})
const { url: findTheSlideUrl } = await startServer(t, { dir: `${folders}/findTheSlide` })
const { url: helpExampleUrl } = await startServer(t, {
  dir: `${folders}/helpExample`,
  env: { CAUSEWAY_HELP_BUILD: 'true', CAUSEWAY_HELP_SOURCES: 'pkg:fastify', CAUSEWAY_HELP_VECTORS: 'none' },
})
const { url: recordExampleUrl } = await startServer(t, { dir: `${folders}/recordExample` })

const documented = (folder: string) =>
  shellBlocks(readFileSync(`${repository}/examples/${folder}/README.md`, 'utf8'))

/** Runs an example with its argument against the server of this file and compares the output with its README. */
async function expectReadmeOutput(t: Test, example: string, argument: string): Promise<void> {
  const [block] = documented(example)
  const commands = block?.commands.trim().replace(/^node/, node)
  const { code, stdout, stderr } = await run(t, `${commands} ${argument} ${url}`, {})
  t.equal(code, 0, stderr)
  t.equal(stdout, block?.output)
}

interface Result {
  readonly tools: readonly { readonly name: string }[]
  readonly structuredContent: Readonly<Record<string, unknown>>
}

async function request(method: string, params: object, session: string): Promise<Result> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'causeway-session': session },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: Result }).result
}

verifies(
  'client:example-app',
  'the example app is listed on the shared mount and on its own mount',
  async (t) => {
    const { tools } = await request('tools/list', {}, 'list')
    const names = tools.map(({ name }) => name)
    t.match(names.slice(-2), ['Hello__greet', 'Hello__list_greeted'])
    const own = await fetch(`${url}/api/apps/hello`)
    t.match(await own.json(), { tools: [{ name: 'greet' }, { name: 'list_greeted' }] })
  },
)

verifies(
  'client:example-app',
  'the curl command of the README returns the response shown there',
  async (t) => {
    const [start, curl] = documented('hello-app')
    t.match(start?.commands, /--user-apps \.\/examples\/hello-app\/app\.ts/)
    const { stdout } = await run(t, curl?.commands.replace('http://localhost:3100', url) ?? '', {})
    t.match(JSON.parse(stdout), curl?.answer as object)
  },
)

verifies('app:errors:user-app', 'an error of the example app has its code, remedy and status', async (t) => {
  const [, , curl] = documented('hello-app')
  const { stdout } = await run(t, curl?.commands.replace('http://localhost:3100', url) ?? '', {})
  const error = JSON.parse(stdout)
  t.match(error, { code: 'NOT_A_NAME', remedy: 'use a name that contains a letter', data: { name: '42' } })
  t.same(error, curl?.answer)
  const response = await fetch(`${url}/api/apps/hello/tools/greet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name": "42"}',
  })
  t.equal(response.status, 422)
  t.match(await request('tools/call', { name: 'Hello__greet', arguments: { name: '42' } }, 'one'), {
    isError: true,
    content: [{ text: 'NOT_A_NAME: not a name: 42; use a name that contains a letter' }],
    _meta: { 'causeway/error': error },
  })
  const openapi = await (await fetch(`${url}/openapi.json`)).text()
  t.match(openapi, /"enum":\[[^\]]*"NOT_A_NAME"/)
})

verifies(
  'client:example-app',
  'the example app stores names for all clients, and the last name per session',
  async (t) => {
    const greet = async (name: string, session: string) =>
      (await request('tools/call', { name: 'Hello__greet', arguments: { name } }, session)).structuredContent
    t.match(await greet('Grace', 'one'), { times: 1, before: null })
    t.match(await greet('Grace', 'two'), { times: 2, before: null }, 'the store is shared between sessions')
    t.match(await greet('Alan', 'one'), { times: 1, before: 'Grace' }, 'the last name is stored per session')
  },
)

t.test('replay-story prints the diagnosis that its README shows', async (t) => {
  await expectReadmeOutput(t, 'replay-story', 'slide_at_45')
})

t.test('replay-story prints the error of the server for an unknown recording', async (t) => {
  const { code, stderr } = await run(t, `${node} examples/replay-story/story.mjs nothing ${url}`, {})
  t.equal(code, 1)
  t.match(stderr, /^story: RECORDING_NOT_FOUND: /)
})

t.test('close-quarters prints the output that its README shows', async (t) => {
  await expectReadmeOutput(t, 'close-quarters', 'fixtures/tracks/boats.rep')
})

t.test('refine-sales prints the output that its README shows and does not change the project', async (t) => {
  await expectReadmeOutput(t, 'refine-sales', 'sales')
  for (const file of ['report.py', 'sales.csv'])
    t.equal(
      readFileSync(`${folder}/projects/sales/${file}`, 'utf8'),
      readFileSync(`${repository}/fixtures/projects/sales/${file}`, 'utf8'),
    )
})

verifies('trm:story:agent', async (t) => {
  const [block] = documented('agent-loop')
  const commands = block?.commands.replace(/^node/, node).replace(' /tmp', ` '${folder}/projects'`)
  const { code, stdout, stderr } = await run(t, `${commands?.trim()} ${url}`, {})
  t.equal(code, 0, stderr)
  const hideCounts = (output = '') => output.replace(/The agent read .*\n/, '')
  t.equal(hideCounts(stdout), hideCounts(block?.output))
  const [, read, bare] = /read (\d+) characters; the output of the tests has (\d+)/.exec(stdout) ?? []
  t.ok(Number(read) <= 2 * Number(bare), `${read} characters, ${bare} without Trm`)
})

const findTheSlideFolder = `${repository}/examples/find-the-slide`
const [condition, bridge = ''] = fromSource

t.test('find-the-slide finds the cause in at most five calls through the bridge', async (t) => {
  const [story] = shellBlocks(readFileSync(`${findTheSlideFolder}/README.md`, 'utf8'))
  const TMPDIR = t.testdir({})
  const commands = story?.commands.trim().replace(/^node/, `'${process.execPath}' ${condition}`)
  const { code, stdout, stderr } = await run(t, `${commands} slide_at_45 ${findTheSlideUrl}`, {
    CAUSEWAY_BRIDGE: bridge,
    TMPDIR,
  })
  t.equal(code, 0, stderr)
  t.equal(stdout, story?.output)
  t.match(stdout, /friction_cone of bodies 1 .* in frame 45/)
  t.ok(Number(/found in (\d+) calls/.exec(stdout)?.[1]) <= 5)
  t.ok(statSync(join(TMPDIR, 'slide_at_45-45.png')).size > 5000, 'writes a picture of the frame')
})

t.test('find-the-slide prints the error of the server for an unknown recording', async (t) => {
  const commands = `'${process.execPath}' ${condition} ${findTheSlideFolder}/story.mjs nothing ${findTheSlideUrl}`
  const { code, stderr } = await run(t, commands, { CAUSEWAY_BRIDGE: bridge })
  t.equal(code, 1)
  t.match(stderr, /story: RECORDING_NOT_FOUND: /)
})

verifies('help:example', async (t) => {
  const [story] = shellBlocks(readFileSync(`${repository}/examples/ask-the-docs/README.md`, 'utf8'))
  const commands = story?.commands.trim().replace(/^node/, `'${process.execPath}'`)
  const { code, stdout, stderr } = await run(
    t,
    `${commands} FST_ERR_CTP_BODY_TOO_LARGE ${helpExampleUrl}`,
    {},
  )
  t.equal(code, 0, stderr)
  t.equal(stdout, story?.output)
})

verifies('help:example', 'ask-the-docs prints the error of the server for a blank question', async (t) => {
  const { code, stderr } = await run(
    t,
    `'${process.execPath}' examples/ask-the-docs/ask.mjs ' ' ${helpExampleUrl}`,
    {},
  )
  t.equal(code, 1)
  t.match(stderr, /^ask: INVALID_ARGUMENTS: /)
})

/** Runs block `n` of an example's README against the server of these tests. */
async function runBlock(t: Test, folder: string, n = 0, env: NodeJS.ProcessEnv = {}) {
  const block = shellBlocks(readFileSync(`${repository}/examples/${folder}/README.md`, 'utf8'))[n]
  const commands = block?.commands
    .replace('http://localhost:3100', recordExampleUrl)
    .replace(/^node /, `'${process.execPath}' `)
  const { code, stdout, stderr } = await run(t, commands ?? 'exit 1', env)
  t.equal(code, 0, stderr)
  return { stdout, block }
}

async function callReplay(name: string, args: object) {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(args) }
  return (await fetch(`${recordExampleUrl}/api/apps/replay/tools/${name}`, init)).json()
}

t.test('bouncing-ball records the same fault in Python and in JavaScript', async (t) => {
  for (const [n, recording] of ['bounce', 'bounce-js'].entries()) {
    const { stdout, block } = await runBlock(t, 'bouncing-ball', n, { CAUSEWAY_URL: recordExampleUrl })
    t.equal(stdout, block?.output)
    const { findings } = (await callReplay('diagnose', { recording })) as { findings: readonly object[] }
    t.match(findings, [{ kind: 'restitution', frames: { first: 43 }, limit: 0.8 }], recording)
  }
})

t.test('bouncing-ball prints how to continue after a mistake', async (t) => {
  const other = '{"frame_id": 1, "time": 9, "bodies": []}'
  const route = `${recordExampleUrl}/api/apps/replay/recordings/taken/frames`
  const headers = { 'content-type': 'application/x-ndjson' }
  t.equal((await fetch(route, { method: 'POST', headers, body: other })).status, 200)
  const closed = 'http://127.0.0.1:1'
  for (const program of [
    'python3 examples/bouncing-ball/bounce.py',
    `${node} examples/bouncing-ball/bounce.mjs`,
  ]) {
    const fails = async (words: string, CAUSEWAY_URL: string, message: RegExp) =>
      t.match(await run(t, `${program} ${words}`, { CAUSEWAY_URL }), { code: 1, stderr: message }, words)
    await fails('', recordExampleUrl, /usage: /i)
    await fails(
      'bounce',
      closed,
      /^http:\/\/127\.0\.0\.1:1 does not respond .*: run npm start, or set CAUSEWAY_URL\n$/,
    )
    await fails("'my run/2'", recordExampleUrl, /my run\/2.*: .*A-Z/)
    await fails(
      'taken',
      recordExampleUrl,
      /^line 2: frame 1 is already stored and differs: .* use a new name for each run/,
    )
  }
})

t.test('record-curl stores the frames of its README and returns the responses shown there', async (t) => {
  for (const n of [0, 1]) {
    const { stdout, block } = await runBlock(t, 'record-curl', n)
    t.match(JSON.parse(stdout), block?.answer as object)
  }
})

t.test('record-python records a run in batches with the standard library', async (t) => {
  const { stdout, block } = await runBlock(t, 'record-python')
  t.equal(stdout, block?.output)
  const metadata = await callReplay('get_metadata', { recording: 'python-ball' })
  t.match(metadata, { total_frames: 200, contiguous: true, environment_bodies: [{ instance_id: 2 }] })
})

t.test('record-mujoco records a run with its contacts during the simulation', async (t) => {
  const { stdout, block } = await runBlock(t, 'record-mujoco')
  t.match(JSON.parse(stdout), block?.answer as object)
  const frame = await callReplay('get_frame', { recording: 'mujoco-box', frame_id: 100 })
  t.match(frame, { collisions: [{ body_a_id: 1, body_b_id: 0x8000_0002, normal: { z: -1 } }] })
  const { friction_constraints } = frame as { friction_constraints: Record<string, number>[] }
  const supported = friction_constraints.reduce((sum, { normal_lambda = 0 }) => sum + normal_lambda, 0)
  t.ok(Math.abs(supported - 2 * 9.81 * 0.01) < 0.02, `the floor supports the box: ${supported} N·s`)
})
