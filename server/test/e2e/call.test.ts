import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { postJson } from '../../../test/e2e/http.ts'
import { cleanEnv, fromSource, startServer } from '../../../test/e2e/server-process.ts'
import { writeProbeApp } from '../../../test/e2e/user-app.ts'
import { verifies } from '../../../test/verifies.ts'
import { formatText } from '../../src/cli/call/call.ts'
import { saveFiles } from '../../src/cli/call/save-files.ts'
import { parseToolArguments } from '../../src/cli/call/tool-arguments.ts'
import { commands } from '../../src/cli/commands.ts'
import { ServerClient } from '../../src/cli/server-client.ts'
import { runHere } from '../cli/run-here.ts'

const dir = t.testdir({ data: {} })
const data = join(dir, 'data')
const { url } = await startServer(t, { dir: data, env: writeProbeApp(dir).env })
const cwd = t.testdirName
const here = (...argv: string[]) => runHere(t, [...argv, '--data-dir', data], { cwd })

verifies('command:call', async (t) => {
  const { code, stdout, stderr } = await here(
    'call',
    'replay',
    'get_frame',
    'recording=slide_at_45',
    'frame_id=45',
  )
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^frame_id: 45$/m, 'a number is converted by the schema')
  const byWireName = await here('call', 'Replay__get_frame', 'recording=slide_at_45', 'frame_id=45')
  t.equal(byWireName.stdout, stdout)
  const json = await here(
    'call',
    'Replay',
    'get_frame',
    '--args',
    '{"recording":"slide_at_45","frame_id":45}',
    '--json',
  )
  t.equal(JSON.parse(json.stdout).frame_id, 45)
  const pasted = await here('call', 'replay.get_frame', '{"frame_id":45}', 'recording=slide_at_45')
  t.equal(pasted.stdout, stdout, 'the arguments of an evidence call can be pasted')
  t.match(await here('call', 'probe', 'write', 'text=12'), { code: 0, stdout: 'uri: probe://notes/a\n' })
})

verifies('command:call', 'the examples of call and tools work', async (t) => {
  const examples = commands
    .filter(({ name }) => name === 'call' || name === 'tools')
    .flatMap((command) => command.examples ?? [])
  for (const example of examples) {
    const [line = ''] = example.split(' | ')
    t.match(await here(...line.split(' ').slice(1)), { code: 0, stderr: '' }, example)
  }
})

verifies('command:call:errors', async (t) => {
  const fails = async (argv: string[], code: number, stderr: RegExp) =>
    t.match(await here('call', ...argv), { code, stdout: '', stderr }, argv.join(' '))
  await fails(
    ['probe', 'fail'],
    1,
    /^causeway: nothing is loaded \[NOTHING_LOADED\]\n {2}-> load something\n$/,
  )
  await fails(
    ['replay', 'get_frame', 'recording=drop', 'frame_id=9999'],
    1,
    /\[FRAME_NOT_FOUND\]\n {2}-> use a frame id between data\.first_frame and data\.last_frame\n {2}data\.first_frame: 1\n {2}data\.last_frame: 150\n$/,
  )
  await fails(
    ['replay', 'get_frame', 'recording=none', 'frame_id=1'],
    1,
    /^causeway: .*none.* \[RECORDING_NOT_FOUND\]\n {2}-> run causeway call replay list_recordings for the ids\n/,
  )
  await fails(
    ['replay', 'get_frame', 'frame_id=x'],
    2,
    /frame_id must be a whole number, got "x"\n {2}-> see causeway tools replay get_frame\n/,
  )
  await fails(['replay', 'get_frame', 'frame=1'], 2, /unknown argument: frame/)
  await fails(['replay', 'get_frame'], 2, /missing frame_id=<value>/)
  await fails(
    ['replay', 'get_frames'],
    2,
    /unknown tool of Replay: get_frames \(did you mean get_frame\?\)\n {2}-> see causeway tools replay\n$/,
  )
  await fails(['reply', 'get_frame'], 2, /unknown app: reply \(did you mean replay\?\)/)
  await fails(['replay'], 2, /missing the tool of replay\n {2}-> see causeway tools replay\n$/)
  await fails(
    ['probe', 'write', 'hello'],
    2,
    /"hello" is not of the form key=value; write text=hello\n {2}-> see causeway tools probe write\n$/,
  )
  await fails(['replay', 'diagnose', 'drop'], 2, /write <argument>=drop with one of .*recording/)
  await fails(['replay', 'get_frame', '{"frame":1}'], 2, /unknown argument: frame/)
  await fails(['replay', 'get_frame', '{"frame_id":'], 2, /the argument is not valid JSON/)
  const none = await runHere(t, [
    'call',
    'replay',
    'list_recordings',
    '--data-dir',
    join(dir, 'none'),
    '--port',
    '1',
  ])
  t.match(none, {
    code: 3,
    stderr:
      /no server uses .*none, and none listens on port 1 \[SERVER_NOT_RUNNING\]\n {2}-> start it: causeway serve; .* add --port or --data-dir/,
  })
  t.match(await here('call', 'probe', 'seen', '--port', '1'), {
    code: 3,
    stderr: `no server listens on port 1; the server of ${data} listens on ${url} [SERVER_NOT_RUNNING]`,
  })
  const { port } = new URL(url)
  const noData = ['call', 'probe', 'seen', '--data-dir', join(dir, 'none')]
  const other = await runHere(t, noData, { env: { MCP_SERVER_PORT: port } })
  t.match(other, { code: 0, stderr: `using the server on port ${port} with data in ${data}` })
  t.match(await runHere(t, [...noData, '--port', port]), { code: 0, stderr: '' }, 'the user named the port')
})

verifies('command:call:pictures', async (t) => {
  const args = ['recording=slide_at_45', 'series=energy.total,body.1.speed', '--out', 'pictures']
  const plot = () => here('call', 'replay', 'plot', ...args)
  const first = join(cwd, 'pictures/plot.png')
  t.match(await plot(), { code: 0, stdout: `saved: ${first}\n` })
  t.same([...readFileSync(first).subarray(1, 4)], [...Buffer.from('PNG')])
  t.match(await plot(), { stdout: `saved: ${join(cwd, 'pictures/plot-2.png')}\n` }, 'files are not replaced')
  const named = [...args.slice(0, -1), 'pictures/energy.png']
  t.match(await here('call', 'replay', 'plot', ...named), {
    stdout: `saved: ${join(cwd, 'pictures/energy.png')}\n`,
  })
  const svg = {
    type: 'image',
    mimeType: 'image/svg+xml',
    data: Buffer.from('<svg/>').toString('base64'),
  } as const
  const text = { type: 'text', text: 'x' } as const
  t.same(saveFiles([text, svg], { outputPath: cwd, name: 'a' }), [join(cwd, 'a.svg')])
  t.equal(readFileSync(join(cwd, 'a.svg'), 'utf8'), '<svg/>')
})

verifies('command:call:dry-run', async (t) => {
  const { code, stdout } = await here('call', 'probe', 'write', 'text=never', '--dry-run')
  t.equal(code, 0)
  t.same(JSON.parse(stdout), { url: `${url}/mcp/probe`, tool: 'write', arguments: { text: 'never' } })
})

verifies('command:call:cancel', async (t) => {
  const client = new ServerClient(url, undefined)
  const steps: unknown[] = []
  const waiting = client.callTool({
    path: 'probe',
    tool: 'wait',
    args: { steps: 2 },
    session: undefined,
    signal: new AbortController().signal,
    onProgress: (progress) => steps.push(progress),
  })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  await postJson(url, '/api/apps/probe/tools/release', {})
  t.match(await waiting, { structuredContent: { steps: 2 } })
  t.match(steps, [
    { progress: 1, total: 2, message: 'step 1' },
    { progress: 2, total: 2, message: 'step 2' },
  ])

  const child = spawn(
    process.execPath,
    [...fromSource, 'call', 'probe', 'wait', 'steps=0', '--data-dir', data],
    {
      env: cleanEnv(),
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 2,
  )
  child.kill('SIGINT')
  t.same(await once(child, 'close'), [130, null])
  t.equal(stderr, 'causeway: the call was cancelled\n')
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.aborted === 1,
  )
})

verifies('command:tools', async (t) => {
  const all = await here('tools')
  t.match(all, { code: 0, stderr: '' })
  t.match(all.stdout, /^replay: .*\n( {2}.*\n)* {2}get_frame +Return a frame/m)
  t.match(all.stdout, /^probe: Waits, fails and notifies on demand\.\n {2}wait /m, 'user apps are listed')
  const one = await here('tools', 'replay', 'get_frame')
  t.match(one.stdout, /^get_frame\n.*\n {2}frame_id=<integer> +Frame id/)
  t.match(one.stdout, /^ {2}recording=<string> \(optional\) /m)
  t.match(one.stdout, /^ {2}example: causeway call replay get_frame recording=drop frame_id=42$/m)
  const help = await here('call', 'replay', 'get_frame', '--help')
  t.equal(help.stdout, one.stdout, 'call --help with a tool lists its arguments')
  t.match((await here('call', 'replay', '--help')).stdout, /^call a tool of the running server\n/)
  const schema = JSON.parse((await here('tools', 'replay', '--schema')).stdout)
  t.match(schema.get_frame, { input_schema: { properties: { frame_id: {} } }, output_schema: {} })
  t.equal(JSON.parse((await here('tools', 'probe', 'wait', '--json')).stdout).name, 'wait')
  t.match(JSON.parse((await here('tools', '--json')).stdout), [{ name: 'Causeway' }, { name: 'Replay' }])
  t.match(await here('tools', 'replay', 'x', 'y'), { code: 2, stderr: /tools takes no argument "y"/ })
})

verifies('command:config', async (t) => {
  const running = await here('config', '--given')
  t.match(running, { code: 0, stderr: `causeway: settings of the running server at ${url}\n` })
  t.match(running.stdout, `CAUSEWAY_USER_APPS        ${join(dir, 'probe-app.ts')}  (CAUSEWAY_USER_APPS)\n`)
  t.match(running.stdout, /^CAUSEWAY_HELP_BUILD +false {2}\(CAUSEWAY_HELP_BUILD\)$/m)
  const none = (argv: string[], env: NodeJS.ProcessEnv = {}) =>
    runHere(t, ['config', '--data-dir', join(dir, 'none'), ...argv], { cwd, env })
  const rows = async (...args: Parameters<typeof none>) => {
    const list: { key: string; value: string; source: string }[] = JSON.parse((await none(...args)).stdout)
    return Object.fromEntries(list.map(({ key, value, source }) => [key, [value, source]]))
  }
  writeFileSync(join(cwd, 'own.env'), 'CAUSEWAY_PAGE_SIZE=7\n')
  const env = {
    MCP_SERVER_PORT: '3200',
    MINDS_EMBEDDINGS_API_KEY: 'planted-key',
    MINDS_EMBEDDINGS_URL: 'https://me:planted-password@host/v1',
  }
  const found = await rows(['--json', '--env-file', 'own.env', '--host', '127.0.0.2'], env)
  t.same(found.port, ['3200', 'MCP_SERVER_PORT'])
  t.same(found.host, ['127.0.0.2', '--host'])
  t.same(found.pageSize, ['7', `CAUSEWAY_PAGE_SIZE in ${join(cwd, 'own.env')}`])
  t.same(found.logFiles, ['true', 'default'])
  t.notMatch(JSON.stringify(found), 'planted')
  t.match(await none([]), { stderr: /these are the settings of the next start/ })
})

const schema = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    flag: { type: 'boolean' },
    ids: { type: 'array', items: { type: 'number' } },
    names: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
    mode: { enum: ['1', 'b'] },
    law: { type: 'string', enum: ['momentum', 'joints'] },
    where: { $ref: '#/$defs/Vector' },
    any: {},
    text: { type: 'string' },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
  additionalProperties: false,
  $defs: { Vector: { type: 'object' } },
}

const parse = (t: Test, ...words: string[]) =>
  parseToolArguments(words, { app: 'demo', tool: 'do', schema, cwd: t.testdirName })

verifies('command:call', 'key=value arguments are converted according to the schema', async (t) => {
  t.same(parse(t, 'count=3', 'flag=true', 'ids=1,2.5', 'names=a, b', 'mode=1'), {
    count: 3,
    flag: true,
    ids: [1, 2.5],
    names: ['a', 'b'],
    mode: '1',
  })
  t.same(parse(t, 'ids=[3]', 'names=null', 'where={"x":1}', 'text=a=b,c', 'any=[1]'), {
    ids: [3],
    names: null,
    where: { x: 1 },
    text: 'a=b,c',
    any: [1],
  })
  t.same(parse(t, 'ids=1', 'ids=2', 'text:="3"', 'either=4', 'any=plain'), {
    ids: [1, 2],
    text: '3',
    either: 4,
    any: 'plain',
  })
  t.testdir({ note: 'from a file' })
  t.same(parse(t, 'text=@note'), { text: 'from a file' })
  const fails = (word: string, message: string | RegExp) =>
    t.throws(() => parse(t, word), {
      code: 'INVALID_ARGUMENTS',
      message,
      remedy: 'see causeway tools demo do',
    })
  fails('count=', 'count must be a whole number, got ""')
  fails('flag=yes', 'flag must be true or false, got "yes"')
  fails('ids=1,x', 'ids must be a number, got "x"')
  fails('where=x', 'where must be a JSON object, got "x"')
  fails('ids=[1', /^ids is not valid JSON: /)
  fails('law=momentums', 'unknown law: momentums (did you mean momentum?); use momentum, joints')
  fails('text=@gone', /^text: cannot read .*gone \(ENOENT\)$/)
  fails('counts=1', /^unknown argument: counts \(did you mean count\?\); use count, flag/)
})

t.test('formatText prints JSON as lines, with its summary first', async (t) => {
  t.equal(formatText('plain'), 'plain')
  t.equal(formatText('[1]'), '[1]')
  const value = { a: 1, list: [1, 2], rows: [{ x: 1, y: { z: 'b' } }], none: [], summary: 'All good.' }
  t.equal(
    formatText(JSON.stringify(value)),
    'All good.\n\na: 1\nlist: [1, 2]\nrows:\n  - x: 1\n    y:\n      z: b\nnone: none',
  )
  const calls = { calls: ['get_frame {"frame_id":1}'] }
  t.equal(
    formatText(JSON.stringify(calls)),
    'calls:\n  - get_frame {"frame_id":1}',
    'a call can be copied from the output',
  )
})
