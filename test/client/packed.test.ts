import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { npm } from '../../scripts/bootstrap/install.mjs'
import { runHere } from '../../server/test/cli/run-here.ts'
import { clientProgram, clients, unavailable } from '../downloads/clients.mjs'
import { until } from '../e2e/condition.ts'
import { overBridge } from '../e2e/conversation.ts'
import { getJson } from '../e2e/http.ts'
import { buildProduct, cleanEnv, startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { clientRun } from './program.ts'

t.setTimeout(700_000)

/** The product as strangers get it: the packed tarballs, installed into an empty folder outside of the checkout. */

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
const [server = '', bridge = ''] = run(process.execPath, pack, repository).trim().split('\n')
const installed = (path: string): string => join(home, 'node_modules', path)
const program = installed('@causeway/server/bin/causeway.js')

verifies('workshop:package:content', async (t) => {
  for (const tarball of [server, bridge]) {
    const files = run('tar', ['tzf', tarball]).trim().split('\n')
    const needless = files.filter(
      (file) =>
        /\.map$|\.tsbuildinfo$|(?<!\.d)\.ts$|\/(test|fixtures?|src)\//.test(file) || !/^package\//.test(file),
    )
    t.same(needless, [], tarball)
    t.ok(files.includes('package/README.md') && files.includes('package/package.json'))
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
  run(npmProgram, [...first, ...options, server, bridge])
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  t.same(Object.keys(dependencies), ['@causeway/bridge', '@causeway/server'])

  const env = { CAUSEWAY_HELP_BUILD: 'true' }
  const { url, server: running } = await startServer(t, { dir: data, program: [program], env })
  const { json } = await getJson(url, '/health')
  t.match(json, { status: 'ok' }, 'every app is well')
  t.ok(Object.keys(json.apps).length >= 7)

  const causeway = (...args: string[]) => run(process.execPath, [program, ...args, '--data-dir', data])
  t.match(causeway('status'), `url      ${url}/mcp`)
  causeway('init', 'claude', '--port', new URL(url).port)
  const entry = JSON.parse(readFileSync(join(home, '.mcp.json'), 'utf8')).mcpServers.causeway
  t.ok(entry.args[0].startsWith(installed('@causeway/bridge/')), 'init names the installed bridge')
  const client = await overBridge(t, url, entry.args)
  await client.ask('load_recording', { path: 'slide_at_45' })
  t.match(await client.ask('check_friction_cone', { frame_id: 45 }), { violation_count: 4 }, 'workers run')
  t.match(
    await client.ask('plot', { series: ['energy.total'] }),
    { recording: 'slide_at_45' },
    'pictures are drawn',
  )

  await until(
    async () => (await getJson(url, '/health')).json,
    (health) => /"mode":"(lexical|hybrid)"/.test(JSON.stringify(health)),
  )
  const answer = await fetch(`${url}/api/apps/help/tools/find_help_topics`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: 'how do I add a folder of recordings' }),
  })
  const { results } = (await answer.json()) as { results: readonly { source: string }[] }
  t.equal(results[0]?.source, 'causeway', 'questions about Causeway are answered')

  causeway('backup', join(dir, 'backup'))
  t.ok(existsSync(join(dir, 'backup/causeway-backup.json')))
  t.match(causeway('stop'), /^stopped/)
  t.same(await running.exited, { code: 0, signal: null })
  t.match(run('npx', ['--no-install', 'causeway', '--version']), /^\d+\.\d+\.\d+\n$/)
})

const script = fileURLToPath(new URL('../downloads/clients.mjs', import.meta.url))

t.test(
  'clients: a registry that cannot be reached is told apart, and leaves nothing half done',
  async (t) => {
    const cache = t.testdir()
    const env = {
      ...process.env,
      CAUSEWAY_CLIENT_CACHE: cache,
      npm_config_registry: 'http://127.0.0.1:1', // a port of the system, on which nothing listens
      npm_config_fetch_retries: '0',
    }
    const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
      execFile(process.execPath, [script, 'install'], { env }, (error, _stdout, said) =>
        resolve({ code: error?.code, said }),
      )
    })
    t.equal(code, unavailable)
    for (const { spec } of Object.values(clients)) t.match(said, `could not install ${spec} (tried twice)`)
    t.same(
      readdirSync(cache).filter((name) => !name.startsWith('_')),
      [],
    )
  },
)

t.test('clients: each is found by its exact version only', async (t) => {
  const cache = t.testdir()
  const env = { CAUSEWAY_CLIENT_CACHE: cache }
  const folder = join(cache, 'anthropic-ai-claude-code-2.1.330/node_modules/@anthropic-ai/claude-code')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'cli-wrapper.cjs'), '')
  t.equal(clientProgram('claude-code-2.1.330', env), join(folder, 'cli-wrapper.cjs'))
  t.equal(clientProgram('claude-code-2.1.197', env), undefined)
})

verifies('command:init', 'Claude Code is connected by what init wrote', async (t) => {
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
  t.match(again.stdout, /^unchanged/, 'also after Claude Code has written the file')

  await claude('mcp', 'remove', 'causeway', '-s', 'user')
  await runHere(t, ['init', 'claude', '--port', port], { env: {}, cwd: home })
  const { stdout } = await claude('mcp', 'list')
  t.match(stdout, /^causeway: .*run\.mjs.* approv/im, 'that of a project waits for its user')
})
