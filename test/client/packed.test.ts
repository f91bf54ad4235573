import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { npm } from '../../scripts/bootstrap/install.mjs'
import { runHere } from '../../server/test/cli/run-here.ts'
import { clientProgram, gateways, unavailable } from '../downloads/clients.mjs'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { overBridge } from '../e2e/replay-client.ts'
import { buildProduct, cleanEnv, startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { clientRun } from './program.ts'

t.setTimeout(700_000)

/** Tests of the packed tarballs, installed into an empty folder outside the checkout. */

const dir = mkdtempSync(join(tmpdir(), 'causeway-packed-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))
const [packages, home, data] = ['packages', 'home', 'data'].map((name) => join(dir, name)) as [
  string,
  string,
  string,
]
for (const folder of [home, data]) mkdirSync(folder)

const run = (program: string, args: readonly string[], cwd = home): string =>
  execFileSync(program, args, {
    cwd,
    env: { ...cleanEnv(), npm_config_update_notifier: 'false', NODE_OPTIONS: '' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
buildProduct()
const pack = [join(repository, 'scripts/pack.ts'), packages]
const [server = '', bridge = '', bundle = '', plugin = '', registry = ''] = run(
  process.execPath,
  [...pack, '--namespace', 'io.github.someone'],
  repository,
)
  .trim()
  .split('\n')
const installedPath = (path: string): string => join(home, 'node_modules', path)
const program = installedPath('causeway-mcp/bin/causeway.js')

verifies('workshop:package:content', async (t) => {
  for (const tarball of [server, bridge]) {
    const files = run('tar', ['tzf', tarball]).trim().split('\n')
    const needless = files.filter(
      (file) =>
        /\.map$|\.tsbuildinfo$|(?<!\.d)\.ts$|\/(test|fixtures?|src)\//.test(file) || !/^package\//.test(file),
    )
    t.same(needless, [], tarball)
    for (const file of ['README.md', 'package.json', 'LICENSE']) t.ok(files.includes(`package/${file}`), file)
    t.notOk(
      files.some((file) => /docs_dev/.test(file)),
      'nothing internal',
    )
  }
  const documentation = 'package/documentation/'
  const pages = run('tar', ['tzf', server])
    .split('\n')
    .filter((file) => file.startsWith(documentation))
    .map((file) => file.slice(documentation.length))
  for (const page of ['README.md', 'docs/settings.md', 'packages/app-replay/README.md', 'bridge/README.md'])
    t.ok(pages.includes(page), page)
})

/** Returns a file of a tarball. */
const readPacked = (tarball: string, file: string): string => run('tar', ['xzOf', tarball, `package/${file}`])

verifies('workshop:package:metadata', async (t) => {
  for (const tarball of [server, bridge]) {
    const manifest = JSON.parse(readPacked(tarball, 'package.json'))
    t.match(manifest, { license: 'MIT', author: /./, description: /.{40}/, engines: { node: /^>=/ } })
    t.ok(manifest.keywords.includes('mcp'))
    t.notOk(manifest.devDependencies)
    for (const file of Object.values(manifest.bin) as string[])
      t.match(readPacked(tarball, file), /^#!.*node/)
  }
  const entry = JSON.parse(readFileSync(registry, 'utf8'))
  const { name, version, mcpName } = JSON.parse(readPacked(bridge, 'package.json'))
  t.match(entry, { name: mcpName, version, packages: [{ identifier: name, version }] })
  t.equal(mcpName, 'io.github.someone/causeway', 'the registry requires the name of its entry in the package')
  t.ok(entry.description.length <= 100, 'the registry limits descriptions to 100 characters')
})

verifies('workshop:package:notices', async (t) => {
  const undici = readFileSync(join(repository, 'node_modules/undici/LICENSE'), 'utf8').trim()
  const texts = [
    readPacked(server, 'THIRD-PARTY-NOTICES.txt'),
    readPacked(bridge, 'dist/THIRD-PARTY-NOTICES.txt'),
    readFileSync(join(plugin, 'THIRD-PARTY-NOTICES.txt'), 'utf8'),
    strFromU8(unzipSync(readFileSync(bundle))['THIRD-PARTY-NOTICES.txt'] as Uint8Array),
  ]
  for (const text of texts) t.ok(text.includes(undici), 'contains the license of the bundled undici')
  t.match(texts[0], /Inter 4 \(OFL-1\.1\)/, 'the server contains a font')
  for (const name of ['preact', '@preact/signals-core', 'three'])
    t.ok(texts[0]?.includes(`\n${name} `), `the pages of the console contain ${name}`)
  const { dependencies } = JSON.parse(readPacked(server, 'package.json')) as {
    dependencies: Record<string, string>
  }
  for (const [name, version] of Object.entries(dependencies).filter(
    ([name]) => !name.startsWith('@causeway/'),
  ))
    t.ok(texts[0]?.includes(`\n${name} ${version}: `), name)
})

verifies('workshop:package:clients', 'the MCP bundle and the plugin connect to the server', async (t) => {
  const { url } = await startServer(t, { dir: join(t.testdir({ data: {}, unpacked: {} }), 'data') })
  const unpacked = join(t.testdirName, 'unpacked')
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(bundle))))
    writeFileSync(join(unpacked, name), bytes)
  const { server: bundled, user_config } = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))
  t.ok(existsSync(join(unpacked, bundled.entry_point)))
  t.same(bundled.mcp_config.env, { MCP_SERVER_URL: `$\{user_config.server_url}` })
  t.equal(user_config.server_url.default, 'http://localhost:3100/mcp')
  const { args: pluginArgs } = JSON.parse(readFileSync(join(plugin, '.mcp.json'), 'utf8')).mcpServers.causeway
  const programs = [
    bundled.mcp_config.args.map((arg: string) => arg.replace(`$\{__dirname}`, unpacked)),
    pluginArgs.map((arg: string) => arg.replace(`$\{CLAUDE_PLUGIN_ROOT}`, plugin)),
  ]
  for (const program of programs) {
    const client = await overBridge(t, url, program)
    t.match(await client.call('get_metadata', { recording: 'drop' }), { recording: 'drop' })
  }
})

/** Unpacks the MCP bundle and returns the command line of its manifest, as Claude Desktop fills it in. */
function unpackBundle(to: string, serverUrl: string) {
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(bundle))))
    writeFileSync(join(to, name), bytes)
  const { mcp_config } = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8')).server
  const fill = (text: string) =>
    text.replaceAll(`$\{__dirname}`, to).replaceAll(`$\{user_config.server_url}`, serverUrl)
  const env = Object.entries(mcp_config.env as Record<string, string>).map(([name, text]) => [
    name,
    fill(text),
  ])
  return { command: mcp_config.command, args: mcp_config.args.map(fill), env: Object.fromEntries(env) }
}

/** Sends the first messages of Claude Desktop to a program and returns its answers by id. */
function handshake({ command, args, env }: ReturnType<typeof unpackBundle>, cwd: string) {
  const clientInfo = { name: 'claude-ai', version: '0.1.0' }
  const messages = [
    { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 1, method: 'tools/list' },
  ]
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
  const { PATH } = cleanEnv()
  const output = execFileSync(command, args, { cwd, env: { PATH, ...env }, input, encoding: 'utf8' })
  const answers = output.trim().split('\n')
  return new Map(answers.map((line) => JSON.parse(line)).map((answer) => [answer.id, answer]))
}

verifies('workshop:package:clients', 'the command line of the unpacked bundle lists tools', async (t) => {
  const dir = t.testdir({ data: {}, elsewhere: {} })
  // Outside the checkout, whose package.json would make it an ES module.
  const unpacked = mkdtempSync(join(tmpdir(), 'causeway-bundle-'))
  t.teardown(() => rmSync(unpacked, { recursive: true, force: true }))
  const { url } = await startServer(t, { dir: join(dir, 'data') })
  const program = unpackBundle(unpacked, `${url}/mcp`)
  t.equal(program.command, 'node', 'the Node of Claude Desktop, or of PATH')
  const args = ['--no-experimental-detect-module', ...program.args]
  const answers = handshake({ ...program, args }, join(dir, 'elsewhere'))
  t.match(answers.get(0), { result: { protocolVersion: '2025-06-18', serverInfo: {} } })
  t.match(answers.get(1), { result: { tools: [{ name: /__/ }] } })
  const absent = unpackBundle(unpacked, 'http://127.0.0.1:1/mcp')
  const failed = handshake({ ...absent, args: [...absent.args, '--wait', '0'] }, join(dir, 'elsewhere'))
  t.match(failed.get(0), {
    error: { message: /cannot reach the server at http:\/\/127\.0\.0\.1:1\/mcp.*start it/ },
  })
})

verifies(
  'workshop:package:clients',
  'the tools of MCP bundles accept the bundle and unpack it',
  async (t) => {
    const home = t.testdir()
    const mcpb = clientRun(t, 'mcpb', home)
    if (mcpb === undefined) return
    t.match(await mcpb('unpack', bundle, join(home, 'unpacked')), { code: 0 })
    const valid = await mcpb('validate', join(home, 'unpacked/manifest.json'))
    t.match(valid, { code: 0, stdout: /validation passes/ }, valid.stderr)
    t.same(readdirSync(join(home, 'unpacked')).sort(), Object.keys(unzipSync(readFileSync(bundle))).sort())
  },
)

verifies('workshop:package:clients', 'Claude Code accepts the plugin and finds its server', async (t) => {
  const claude = clientRun(t, 'claude-code-2.1.330', t.testdir())
  if (claude === undefined) return
  t.match((await claude('plugin', 'validate', '--profile', 'directory', plugin)).stdout, /Validation passed/)
  t.match((await claude('--plugin-dir', plugin, 'mcp', 'list')).stdout, /plugin:causeway:causeway/)
})

verifies('workshop:package:docker', async (t) => {
  const text = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  t.same(validate(text), [])
  const folder = mkdtempSync(join(tmpdir(), 'causeway-docker-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const inFolder = (part: string): string =>
    part
      .replaceAll(/(?<=[ =])\/(data|run)\b/g, `${folder}/$1`)
      .replace('node:node', `${process.getuid?.()}:${process.getgid?.()}`)
  const read = (instruction: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm'))].map(([, rest = '']) => inFolder(rest))

  const [copied = ''] = read('COPY')
  const app = join(folder, 'app')
  mkdirSync(join(folder, 'run/causeway'), { recursive: true })
  mkdirSync(app)
  copyFileSync(join(packages, copied.split(' ')[0] ?? ''), join(app, basename(server)))
  writeFileSync(join(folder, 'run/causeway/tokens'), `${'t'.repeat(40)} docker\n`, { mode: 0o600 })
  const offline = 'export npm_config_prefer_offline=true npm_config_loglevel=error'
  for (const command of read('RUN')) run('sh', ['-e', '-c', `${offline}\n${command}`], app)

  const settings = Object.fromEntries(read('ENV').map((line) => line.split('=') as [string, string]))
  const [, ...program] = JSON.parse(read('CMD')[0] ?? '[]') as string[]
  const env = { ...settings, CAUSEWAY_HELP_BUILD: 'false' }
  const { url } = await startServer(t, { dir: join(folder, 'data'), cwd: app, program, env })
  const { port } = new URL(url)
  const request = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/apps`, { headers })
  t.equal((await request({})).status, 401)
  t.equal((await request({ authorization: `Bearer ${'t'.repeat(40)}` })).status, 200)
})

verifies('workshop:package:whole', async (t) => {
  const [npmProgram = 'npm', ...first] = npm(process.env, process.execPath)
  const options = [
    'install',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  run(npmProgram, [...first, ...options, server])
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  t.same(Object.keys(dependencies), ['causeway-mcp'])

  const env = { CAUSEWAY_HELP_BUILD: 'true' }
  const { url, server: running } = await startServer(t, { dir: data, program: [program], env })
  const { json } = await getJson(url, '/health')
  t.match(json, { status: 'ok' }, 'every app is healthy')
  t.ok(Object.keys(json.apps).length >= 7)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  t.match(await page.text(), /<script type="module"/, 'the built console is part of the package')

  const causeway = (...args: string[]) => run(process.execPath, [program, ...args, '--data-dir', data])
  t.match(causeway('status'), `url      ${url}/mcp`)
  causeway('init', 'claude', '--port', new URL(url).port)
  const entry = JSON.parse(readFileSync(join(home, '.mcp.json'), 'utf8')).mcpServers.causeway
  t.equal(
    entry.args[0],
    installedPath('causeway-mcp/bridge/dist/bridge.js'),
    'init names the bridge of the package',
  )
  const client = await overBridge(t, url, entry.args)
  await client.call('load_recording', { path: 'slide_at_45' })
  t.match(await client.call('check_friction_cone', { frame_id: 45 }), { violation_count: 4 }, 'workers start')
  t.match(
    await client.call('plot', { series: ['energy.total'] }),
    { recording: 'slide_at_45' },
    'pictures are rendered',
  )

  await until(
    async () => (await getJson(url, '/health')).json,
    (health) => /"mode":"(lexical|hybrid)"/.test(JSON.stringify(health)),
  )
  const response = await fetch(`${url}/api/apps/help/tools/find_help_topics`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: 'how do I add a folder of recordings' }),
  })
  const { results } = (await response.json()) as { results: readonly { source: string }[] }
  t.equal(results[0]?.source, 'causeway', 'the documentation of Causeway is indexed')

  causeway('backup', join(dir, 'backup'))
  t.ok(existsSync(join(dir, 'backup/causeway-backup.json')))
  t.match(causeway('stop'), /^stopped/)
  t.same(await running.exited, { code: 0, signal: null })
  t.match(run('npx', ['--no-install', 'causeway', '--version']), /^\d+\.\d+\.\d+\n$/)
})

const script = fileURLToPath(new URL('../downloads/clients.mjs', import.meta.url))

t.test(
  'clients: an unreachable registry fails the installation and leaves no partial installation',
  async (t) => {
    const cache = t.testdir()
    const env = {
      ...process.env,
      CAUSEWAY_CLIENT_CACHE: cache,
      npm_config_registry: 'http://127.0.0.1:1', // a reserved port without a listener
      npm_config_fetch_retries: '0',
    }
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [script, 'install', 'gateways'], { env }, (error, _stdout, stderr) =>
        resolve({ code: error?.code, stderr }),
      )
    })
    t.equal(code, unavailable)
    for (const { spec } of Object.values(gateways))
      t.match(stderr, `could not install ${spec} in two attempts`)
    t.same(
      readdirSync(cache).filter((name) => !name.startsWith('_')),
      [],
    )
  },
)

t.test('clients: a client is found only by its exact version', async (t) => {
  const cache = t.testdir()
  const env = { CAUSEWAY_CLIENT_CACHE: cache }
  const folder = join(cache, 'anthropic-ai-claude-code-2.1.330/node_modules/@anthropic-ai/claude-code')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'cli-wrapper.cjs'), '')
  t.equal(clientProgram('claude-code-2.1.330', env), join(folder, 'cli-wrapper.cjs'))
  t.equal(clientProgram('claude-code-2.1.197', env), undefined)
})

verifies('command:init', 'Claude Code connects with the configuration that init wrote', async (t) => {
  const dir = t.testdir({ home: {}, data: {} })
  const home = join(dir, 'home')
  const claude = clientRun(t, 'claude-code-2.1.330', home)
  if (claude === undefined) return
  const { url } = await startServer(t, { dir: join(dir, 'data') })
  const env = { CLAUDE_CONFIG_DIR: home }
  const port = new URL(url).port
  const user = await runHere(t, ['init', 'claude', '--scope', 'user', '--port', port], { env, cwd: home })
  t.equal(user.code, 0, user.stderr)
  t.match((await claude('mcp', 'list')).stdout, /^causeway: .*run\.mjs.* - ✔ Connected$/m)
  await claude('mcp', 'add', '-s', 'user', 'another', '--', 'true')
  const again = await runHere(t, ['init', 'claude', '--scope', 'user', '--port', port], { env, cwd: home })
  t.match(again.stdout, /^unchanged/, 'init keeps a file that Claude Code has written')

  await claude('mcp', 'remove', 'causeway', '-s', 'user')
  await runHere(t, ['init', 'claude', '--port', port], { env: {}, cwd: home })
  const { stdout } = await claude('mcp', 'list')
  t.match(stdout, /^causeway: .*run\.mjs.* approv/im, 'a server of a project requires approval by the user')
})
