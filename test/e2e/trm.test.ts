import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { inCI } from '../tier.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { postMcp } from './http.ts'
import { spawnServer, startServer } from './server-process.ts'
import { openTrmClient, overHttp } from './trm-client.ts'

t.setTimeout(300_000)

const projects = fileURLToPath(new URL('../../fixtures/projects', import.meta.url))
const folder = t.testdir({ data: {}, root: {} })
const root = join(folder, 'root')
const { url } = await startServer(t, { dir: join(folder, 'data'), env: { CAUSEWAY_TRM_ROOTS: root } })

/** Copies `sums` into a git repository with uncommitted work of the user. `seen` returns the state to compare. */
function repository(name: string): { readonly repo: string; seen(): object } {
  const repo = join(root, name)
  cpSync(join(projects, 'sums'), repo, { recursive: true })
  const git = (...args: string[]): string =>
    execFileSync('git', ['--no-optional-locks', '-C', repo, ...args], { encoding: 'utf8' })
  git('init', '-q')
  writeFileSync(join(repo, 'notes.txt'), 'committed\n')
  git('add', '-A')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
  writeFileSync(join(repo, 'notes.txt'), 'uncommitted\n')
  return {
    repo,
    seen: () => ({
      changed: git('status', '--porcelain'),
      index: git('ls-files', '--stage'),
      refs: git('for-each-ref'),
      stash: git('stash', 'list'),
      config: readFileSync(join(repo, '.git', 'config'), 'utf8'),
      times: ['notes.txt', 'test_sums.py', '.git/index', '.git/HEAD'].map(
        (file) => statSync(join(repo, file)).mtimeMs,
      ),
    }),
  }
}

const replacing = (file: string, oldText: string, newText: string) => ({
  mode: 'modify',
  changes: [{ file, edits: [{ type: 'replace', oldText, newText }] }],
})

verifies('trm:story', async (t, channel) => {
  const { repo, seen } = repository(`story-${channel}`)
  const before = seen()
  const call = await openTrmClient(t, channel, { url, root })
  const start = await call('start', { repo: `story-${channel}`, test: 'python3 -m unittest' })
  t.match(start, { status: 'done', baseline: { tests: { passed: 1, failed: 2 } } })
  const { sessionId: sid } = start
  const lines = await call('lines', { sid, file: 'sums.py', start: 9, end: 11 })
  t.match(lines.lines[2], /^11: .*len\(values\) \+ 1/)
  const wrong = await call('submit', {
    sid,
    candidate: replacing('sums.py', '+ 1', '+ 2'),
    reason: 'the other way',
  })
  t.match(wrong, { score: 1 / 3, shouldHalt: false, failures: [{ file: 'test_sums.py', line: 11 }] })
  await call('undo', { sid })
  const right = await call('submit', {
    sid,
    candidate: replacing('sums.py', 'len(values) + 1', 'len(values)'),
  })
  t.match(right, { score: 1, shouldHalt: true, rule: 'success', step: 1 })
  t.match(await call('end', { sid }), { ok: true })
  t.same(
    seen(),
    { ...before, changed: ' M notes.txt\n M sums.py\n' },
    'only the file of the candidate differs',
  )
  t.match(readFileSync(join(repo, 'sums.py'), 'utf8'), /\(len\(values\)\)/)
})

verifies(
  'trm:wire:names',
  inCI(async (t) => {
    const names = async (path: string): Promise<string[]> => {
      const { json } = await postMcp(url, 'tools/list', {}, { path })
      return json.result.tools.map(({ name }: { name: string }) => name)
    }
    const own = await names('/mcp/trm')
    t.ok(own.length === 16 && own.every((name) => name.startsWith('trm.')), own.join(' '))
    const all = await names('/mcp')
    for (const name of own) t.ok(all.includes(name.replace('trm.', 'Trm__')), name)
  }),
)

verifies(
  'trm:off',
  'other roots do not enable it',
  inCI(async (t) => {
    const dir = t.testdir()
    const off = await startServer(t, { dir, env: { CAUSEWAY_ROOTS: root } })
    const { error } = await overHttp(off.url)('start', { repo: root })
    t.match(error, { code: 'TRM_OFF', remedy: /CAUSEWAY_TRM_ROOTS/ })
  }),
)

/** Starts a session whose test does not end, and kills the server while the test runs. */
async function killDuringTest(t: Test, channel: Channel) {
  const name = `restart-${channel}`
  const { repo, seen } = repository(name)
  const dir = t.testdir()
  const env = { CAUSEWAY_TRM_ROOTS: root }
  const running = await startServer(t, { dir, env })
  const call = await openTrmClient(t, channel, { url: running.url, root })
  const pids = join(t.testdirName, 'pids')
  const test = `sh -c 'echo $$ >> ${pids}; sleep 300' & setsid sh -c 'echo $$ >> ${pids}; sleep 300' & echo $$ >> ${pids}; sleep 300`
  const { sessionId: sid } = await call('start', { repo: name, test, preflight: false })
  const before = seen()
  const started = await call('submit', { sid, candidate: replacing('sums.py', '+ 1', ''), wait: 0 })
  t.equal(started.status, 'running')
  const three = await until(
    async () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []),
    (found) => found.length === 3,
  ).catch(() => [])
  t.equal(three.length, 3)
  t.notMatch(readFileSync(join(repo, 'sums.py'), 'utf8'), /\+ 1/, 'the candidate is applied')
  running.server.process.kill('SIGKILL')
  await running.server.exited
  return { dir, env, sid, seen, before, pids: three, repo }
}

const isAlive = (pid: number): boolean => {
  try {
    // A zombie process counts as dead.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

verifies(
  'trm:start:commands',
  'over HTTP the token of a call determines the allowed commands',
  inCI(async (t) => {
    const dir = t.testdir()
    const tokens = { laptop: 'token-of-the-laptop', agent: 'token-of-an-agent' } as const
    const lines = Object.entries(tokens).map(([name, token]) => `${token} ${name} trm:read,write,execute\n`)
    writeFileSync(join(dir, 'tokens'), lines.join(''), { mode: 0o600 })
    cpSync(join(projects, 'sums'), join(root, 'guarded'), { recursive: true })
    const guarded = await startServer(t, {
      dir,
      env: {
        CAUSEWAY_TRM_ROOTS: root,
        CAUSEWAY_TOKEN_FILE: join(dir, 'tokens'),
        CAUSEWAY_TRM_COMMANDS: 'detected',
        CAUSEWAY_TRM_TRUSTED: 'laptop',
      },
    })
    const start = async (token: string) => {
      const params = {
        name: 'trm.start',
        arguments: { repo: 'guarded', test: 'echo 1..0', preflight: false },
      }
      const headers = { authorization: `Bearer ${token}` }
      const { json } = await postMcp(guarded.url, 'tools/call', params, { path: '/mcp/trm', headers })
      return json.result
    }
    t.match(await start(tokens.laptop), { structuredContent: { status: 'ready' } })
    const rejected = await start(tokens.agent)
    t.match(rejected, { isError: true, _meta: { 'causeway/error': { code: 'COMMAND_REFUSED' } } })
    t.match(
      rejected.content[0].text,
      /data\.allowed: \{.*(?:unittest|pytest)/,
      'the error lists the allowed commands',
    )
  }),
)

verifies(
  'trm:restart',
  inCI(async (t, channel) => {
    const { dir, env, sid, seen, before, pids, repo } = await killDuringTest(t, channel)
    await until(
      async () => pids.filter(isAlive),
      (alive) => alive.length <= 1,
    )
    const again = spawnServer(t, { dir, env })
    const call = await openTrmClient(t, channel, { url: await again.ready(), root })
    t.match(await call('state', { sid }), {
      sessionId: sid,
      status: 'interrupted',
      step: 0,
      interrupted: { step: 1 },
      running: null,
    })
    t.same(
      await until(
        async () => pids.filter(isAlive),
        (alive) => alive.length === 0,
      ),
      [],
    )
    t.same(seen(), before)
    t.match(readFileSync(join(repo, 'sums.py'), 'utf8'), /\+ 1/)
    const next = await call('submit', {
      sid,
      candidate: replacing('sums.py', 'sum(values)', 'sum(list(values))'),
      wait: 0,
    })
    t.match(next, { status: 'running', step: 1 })
    t.match(await call('end', { sid }), { ok: true })
  }),
)

verifies(
  'trm:run:orphans',
  'a stopping server rolls back the candidate and leaves no process',
  inCI(async (t) => {
    const { repo } = repository('stopping')
    const dir = t.testdir()
    const { server, url: own } = await startServer(t, { dir, env: { CAUSEWAY_TRM_ROOTS: root } })
    const call = overHttp(own, 'stop')
    const pidFile = join(t.testdirName, 'pid')
    const test = `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; sleep 300`
    await call('start', { repo: 'stopping', test, preflight: false })
    await call('submit', { candidate: replacing('sums.py', '+ 1', ''), wait: 0 })
    await until(
      async () => existsSync(pidFile),
      (isWritten) => isWritten,
    )
    const pid = Number(readFileSync(pidFile, 'utf8'))
    t.ok(isAlive(pid))
    await server.stop()
    t.notOk(isAlive(pid))
    t.match(readFileSync(join(repo, 'sums.py'), 'utf8'), /\+ 1/)
  }),
)
