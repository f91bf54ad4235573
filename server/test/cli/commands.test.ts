import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { DataPart } from '@causeway/app-kit'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { deleteClientState, eraseData, findAppData, measureBytes } from '../../src/cli/commands/data.ts'
import { followLines, readLastLines } from '../../src/cli/commands/logs.ts'
import { commands } from '../../src/cli/commands.ts'
import { checkDataFolder } from '../../src/cli/doctor/machine-checks.ts'
import { ProgressLine } from '../../src/cli/progress-line.ts'
import { replaceFile } from '../../src/cli/replace-file.ts'
import { type SettingKey, settings, toFlag } from '../../src/config/config.ts'
import { readAddedRoots } from '../../src/config/roots.ts'
import { ServerStore } from '../../src/host/server-store.ts'
import { listLogFiles, logNames } from '../../src/log/log-files.ts'
import { version } from '../../src/process/version.ts'
import { adviseCommand } from '../../src/process/welcome.ts'
import { runHere } from './run-here.ts'

t.testdir()

verifies('command:help', async (t) => {
  const { code, stdout } = await runHere(t, ['--help'])
  t.equal(code, 0)
  t.ok(stdout.split('\n').length < 40, 'fits one screen')
  for (const { name, about } of commands) {
    t.ok(stdout.includes(`  ${name}`) && stdout.includes(about), name)
    const help = await runHere(t, [name, '--help'])
    t.equal(help.code, 0)
    t.same((await runHere(t, ['help', name])).stdout, help.stdout)
    t.match(help.stdout, `usage: causeway ${name}`)
    t.match(help.stdout, /exit codes:\n {2}0 {2}/)
  }
  t.match((await runHere(t, ['serve', '--help'])).stdout, '--shutdown-ms', 'serve lists every setting')
  t.equal((await runHere(t, ['--version'])).stdout, `${version}\n`)
  t.equal((await runHere(t, ['help'])).stdout, stdout)
})

verifies('command:help', 'help works with invalid settings', async (t) => {
  const options = { env: { MCP_SERVER_PORT: 'many' } }
  t.equal((await runHere(t, ['--help'], options)).code, 0)
  t.equal((await runHere(t, ['status', '--help'], options)).code, 0)
})

verifies('command:wrong-line', async (t) => {
  const fails = async (argv: string[], message: RegExp) => {
    const { code, stdout, stderr } = await runHere(t, argv)
    t.match({ code, stdout }, { code: 2, stdout: '' }, argv.join(' '))
    t.match(stderr, message)
  }
  await fails(['statsu'], /unknown command: statsu \(did you mean status\?\)\n {2}-> see causeway --help\n$/)
  await fails(['status', '--follow'], /unknown flag: --follow\n {2}-> see causeway status --help\n$/)
  await fails(
    ['status', '--josn'],
    /unknown flag: --josn \(did you mean --json\?\)\n {2}-> see causeway status --help\n$/,
  )
  await fails(['status', '--json=yes'], /--json takes no value/)
  await fails(['logs', '--lines'], /--lines needs a value/)
  await fails(
    ['logs', '--lines', 'ten'],
    /--lines must be a whole number, got "ten"\n {2}-> see causeway logs --help/,
  )
  await fails(
    ['status', 'now'],
    /^causeway: status takes no argument "now"\n {2}-> see causeway status --help\n$/,
  )
  await fails(['roots', 'put', '/x'], /unknown argument: put; use list, add, remove/)
  await fails(['roots', 'add'], /missing <folder>\n {2}-> see causeway roots --help/)
  await fails(['roots', 'add', '/x', '/y'], /roots takes no argument "\/y"/)
  await fails(['backup'], /missing <folder>/)
  await fails(['data', 'erase'], /missing <app>/)
  await fails(
    ['logs', 'error'],
    /unknown argument: error \(did you mean errors\?\); use server, errors, audit/,
  )
  await fails(['init'], /missing claude\|vscode\|cursor/)
  await fails(['serve', 'now'], /serve takes no argument "now"/)
  await fails(['--port', 'abc'], /--port must be a number, got "abc"/)
  await fails(['status', '--port', 'many'], /^causeway: --port must be a number, got "many"\n/)
})

t.test('no command flag is the name of a setting, and a flag has one kind in all commands', async (t) => {
  const kinds = new Map((Object.keys(settings) as SettingKey[]).map((key) => [toFlag(key), 'setting']))
  for (const { name, flags } of commands)
    for (const [flag, { value }] of Object.entries(flags)) {
      const kind = value === undefined ? 'switch' : 'value'
      t.equal(kinds.get(flag) ?? kind, kind, `--${flag} of ${name}`)
      kinds.set(flag, kind)
    }
})

t.test('every setting in the help of a command exists', async (t) => {
  const known = (Object.keys(settings) as SettingKey[]).map((key) => `--${toFlag(key)}`)
  for (const { name, settings: shown = [] } of commands)
    for (const flag of shown) t.ok(known.includes(flag), `${flag} of ${name}`)
})

const line = (msg: string): string => `${JSON.stringify({ level: 30, time: 0, msg })}\n`

verifies('command:logs', async (t) => {
  const dir = t.testdir({
    logs: {
      'server.9.log': line('one') + line('two'),
      'server.10.log': line('three'),
      'error.1.log': line('bad'),
      'server.log.bak': line('no log file'),
    },
    state: { causeway: { 'server-3100.log': '' } },
  })
  const logs = (...words: string[]) =>
    runHere(t, ['logs', '--data-dir', dir, ...words], { env: { XDG_STATE_HOME: join(dir, 'no-state') } })
  const raw = await logs('--json', '-n', '2')
  t.same(raw.stdout, line('two') + line('three'), 'files are ordered by number')
  t.match((await logs()).stdout, /INFO.*: one\n.*: two\n.*: three\n$/s)
  t.match((await logs('errors')).stdout, /: bad/)
  t.equal((await logs('--path')).stdout, `${join(dir, 'logs/server.10.log')}\n`)
  const none = await logs('audit')
  t.match(none, { code: 1, stdout: '' })
  t.match(none.stderr, /\[NO_LOG_FILES\]\n.*CAUSEWAY_LOG_FILES=false/)
  const env = { XDG_STATE_HOME: join(dir, 'state') }
  const autostarted = await runHere(t, ['logs', '--data-dir', join(dir, 'none')], { env })
  t.match(
    autostarted.stderr,
    join(dir, 'state/causeway/server-3100.log'),
    'names the log of a server that a bridge started',
  )
  t.equal((await logs('everything')).code, 2)
})

t.test('advice names the program as the user runs it', async (t) => {
  const dir = t.testdir()
  const none = ['logs', '--data-dir', dir, '--lines', 'x']
  t.match((await runHere(t, none)).stderr, /-> see causeway logs --help\n$/)
  const env = { npm_lifecycle_event: 'start', npm_package_name: 'causeway-workspace' }
  t.match((await runHere(t, none, { env })).stderr, /-> see npm start -s -- logs --help\n$/)
  t.match(
    (await runHere(t, ['find_energy_anomalies'], { env })).stderr,
    /-> see npm start -s -- --help; if find_energy_anomalies is a tool, run npm start -s -- call <app> find_energy_anomalies\n$/,
  )
  const help = (await runHere(t, ['call', '--help'], { env })).stdout
  t.match(help, '  npm start -s -- call causeway list_apps --json', 'the app keeps its name')
  t.match((await runHere(t, ['--help'], { env })).stdout, 'npm start -s -- <command> --help')
  t.equal(
    adviseCommand('run causeway serve; see causeway serve --help', env),
    'run npm start; see npm start -s -- serve --help',
  )
  t.equal(
    adviseCommand('no server uses /home/a/causeway and none listens', env),
    'no server uses /home/a/causeway and none listens',
  )
  for (const { name } of commands.filter(({ name }) => name !== 'serve'))
    t.equal(adviseCommand(`run causeway ${name}`, env), `run npm start -s -- ${name}`)
  t.equal(adviseCommand('skipped causeway of .mcp.json', env), 'skipped causeway of .mcp.json')
  t.equal((await runHere(t, ['version'])).stdout, (await runHere(t, ['--version'])).stdout)
})

verifies('command:logs', 'followLines yields complete lines and continues with the next file', async (t) => {
  const dir = t.testdir({ 'server.1.log': 'old\n' })
  const [first, second] = [join(dir, 'server.1.log'), join(dir, 'server.2.log')]
  const files = () => listLogFiles(dir, logNames.server).map(({ path }) => path)
  const { lines, end } = readLastLines(files(), 10)
  t.same(lines, ['old'])
  const stop = new AbortController()
  const following = followLines(files, { file: first, offset: end }, { signal: stop.signal, pollMs: 1 })
  const next = async () => (await following.next()).value

  appendFileSync(first, 'één\nhal')
  t.equal(await next(), 'één')
  appendFileSync(first, 'f\n')
  t.equal(await next(), 'half')
  appendFileSync(first, 'last\n')
  writeFileSync(second, 'new\n')
  t.same([await next(), await next()], ['last', 'new'])
  rmSync(first)
  appendFileSync(second, 'newer\n')
  t.equal(await next(), 'newer')
  stop.abort()
  t.equal(await next(), undefined)
})

t.test('ProgressLine overwrites one line of a terminal', async (t) => {
  const written: string[] = []
  const terminal = { isTTY: true, columns: 20, write: (text: string) => written.push(text) > 0 }
  const line = new ProgressLine(terminal as unknown as NodeJS.WriteStream)
  line.clear()
  t.same(written, [])
  line.update('1.0 kB of 2.0 kB  a/very/long/path/of/a/file.db')
  line.clear()
  line.clear()
  t.same(written, ['\r\x1b[K1.0 kB of 2.0 kB  a', '\r\x1b[K'])
})

t.test('ProgressLine writes nothing if the stream is not a terminal', async (t) => {
  const write = () => t.fail('the progress line was written')
  const line = new ProgressLine({ isTTY: false, write } as unknown as NodeJS.WriteStream)
  line.update('a.db')
  line.clear()
})

verifies('command:init:careful', 'replaceFile does not overwrite changes of another program', async (t) => {
  const dir = t.testdir({ 'a.json': 'old' })
  const path = join(dir, 'a.json')
  writeFileSync(path, 'newer')
  t.throws(() => replaceFile(path, { text: 'ours', previousText: 'old' }), { code: 'CLIENT_FILE_REFUSED' })
  t.throws(() => replaceFile(path, { text: 'ours', previousText: undefined }), {
    code: 'CLIENT_FILE_REFUSED',
  })
  t.same(t.testdirName, dir)
})

verifies('command:roots', async (t) => {
  const cwd = t.testdir({ simulations: {}, plots: {}, code: {} })
  const data = join(cwd, 'data')
  const env = { CAUSEWAY_DATA_DIR: data, CAUSEWAY_PLOT_ROOTS: join(cwd, 'plots') }
  const roots = (...words: string[]) => runHere(t, ['roots', ...words], { env, cwd })

  t.match(await roots('add', 'simulations'), { code: 0, stdout: `${join(cwd, 'simulations')}\n`, stderr: '' })
  const late = await roots('add', 'later')
  t.equal(late.stdout, `${join(cwd, 'simulations')}\n${join(cwd, 'later')}\n`, 'prints the new list')
  t.match(late.stderr, 'the folder does not exist yet')

  const { stdout } = await roots()
  t.equal((await roots('list')).stdout, stdout)
  const [, debrief = ''] = /^Debrief\n((?: {2}.*\n)+)/m.exec(stdout) ?? []
  t.same(debrief.trim().split(/\n */), [
    `${join(cwd, 'plots')}  (CAUSEWAY_PLOT_ROOTS)`,
    `${cwd}  (CAUSEWAY_ROOTS)`,
    `${join(cwd, 'simulations')}  (causeway roots add)`,
    `${join(cwd, 'later')}  (causeway roots add, missing)`,
  ])
  t.match(stdout, /^Trm\n {2}none: set CAUSEWAY_TRM_ROOTS$/m, 'Trm uses no other roots')

  t.match(await roots('remove', 'later'), { code: 0, stdout: `${join(cwd, 'simulations')}\n` })
  t.match(await roots('remove', 'later'), { code: 1, stderr: /was not added/ })
  t.match(await roots('remove', '.'), { code: 1, stderr: /remove it from CAUSEWAY_ROOTS/ })
  t.same(readAddedRoots(data), [join(cwd, 'simulations')])
})

verifies('command:dry-run', async (t) => {
  const root = t.testdir({ data: { 'notes.txt': 'mine' } })
  const [data, target] = [join(root, 'data'), join(root, 'backup')]
  const here = (...words: string[]) =>
    runHere(t, [...words, '--data-dir', data], { cwd: root, env: { XDG_CONFIG_HOME: join(root, 'config') } })
  const copied = await here('backup', target, '--dry-run')
  t.match(copied, { code: 0, stdout: 'notes.txt  4 B\n', stderr: `nothing copied: ${target}` })
  t.notOk(existsSync(target))
  t.match(await here('backup', target), { code: 0 })
  const restored = await here('restore', target, '--dry-run')
  t.match(restored, {
    code: 0,
    stdout: 'notes.txt  4 B\n',
    stderr: /would be moved aside with --replace.*\n.*nothing restored/,
  })
  t.match(await here('roots', 'add', 'x', '--dry-run'), {
    code: 0,
    stdout: `${join(root, 'x')}\n`,
    stderr: /nothing written/,
  })
  t.match(await here('install-service', '--dry-run'), {
    code: 0,
    stdout: /^\[Unit\]/,
    stderr: /nothing written: .*causeway\.service/,
  })
  t.same(readdirSync(root).sort(), ['backup', 'data'])
  t.same(readdirSync(data), ['notes.txt'])
  const writing = ['init', 'connect', 'backup', 'restore', 'roots', 'data', 'install-service', 'call']
  const withFlag = commands.filter(({ flags }) => 'dry-run' in flags).map(({ name }) => name)
  t.same(withFlag.sort(), writing.sort())
})

const parts: readonly DataPart[] = [
  { path: 'cache/', kind: 'passing' },
  { path: 'runs/*.db', kind: 'database' },
  { path: 'runs/*-notes', kind: 'files' },
  { path: 'own.db', kind: 'database' },
]

verifies(
  'command:data:erase',
  'eraseData removes files, folders, patterns and the sidecar files of SQLite',
  async (t) => {
    const root = t.testdir({
      outside: { kept: 'x' },
      data: {
        cache: { deep: { a: '12345' } },
        runs: { 'one.db': '1', 'one.db-wal': '2', 'one-notes': '3', 'other.txt': '4' },
        'own.db': 'x',
        'own.db-shm': 'x',
        'own.db.initialized': 'x',
        'own.database': 'x',
      },
    })
    const dir = join(root, 'data')
    symlinkSync(join(root, 'outside'), join(dir, 'cache/link'))
    const paths = findAppData(dir, parts)
    t.same(paths, [
      'cache',
      'own.db',
      'own.db-shm',
      'own.db.initialized',
      'runs/one-notes',
      'runs/one.db',
      'runs/one.db-wal',
    ])
    t.ok(measureBytes(join(dir, 'cache')) >= 5)
    t.equal(measureBytes(join(dir, 'nowhere')), 0)
    eraseData(dir, paths)
    t.same(readdirSync(dir).sort(), ['own.database', 'runs'])
    t.same(readdirSync(join(dir, 'runs')), ['other.txt'])
    t.equal(readFileSync(join(root, 'outside/kept'), 'utf8'), 'x', 'links are not followed')
    t.same(findAppData(dir, parts), [])
  },
)

t.test('eraseData removes folders that become empty', async (t) => {
  const dir = t.testdir({ runs: { 'one.db': '1' } })
  eraseData(dir, findAppData(dir, parts))
  t.notOk(existsSync(join(dir, 'runs')))
})

verifies(
  'command:data:erase',
  'deleteClientState deletes the state of one app and does not create a database',
  async (t) => {
    const dir = t.testdir()
    deleteClientState(dir, 'Minds')
    t.same(readdirSync(dir), [])
    const open = () => new ServerStore(join(dir, 'server.db'), { now: Date.now })
    const before = await open()
    await before.states.save('me', 'Minds', '{"mind":"a"}')
    await before.states.save('me', 'Replay', '{"recording":"r"}')
    await before.close()
    deleteClientState(dir, 'Minds')
    const after = await open()
    t.teardown(() => after.close())
    t.equal(await after.states.load('me', 'Minds'), undefined)
    t.equal(await after.states.load('me', 'Replay'), '{"recording":"r"}')
  },
)

verifies('backup:restore-cut-short', 'restore, doctor and erase report leftovers of a restore', async (t) => {
  const root = t.testdir({ data: { 'notes.txt': 'mine' } })
  const [dir, backup] = [join(root, 'data'), join(root, 'backup')]
  const here = (...words: string[]) => runHere(t, [...words, '--data-dir', dir])
  t.match(await here('backup', backup), { code: 0 })
  const aside = `${dir}.before-2026-01-01T00-00-00-000Z`
  mkdirSync(aside)
  t.match(await here('restore', backup, '--replace'), { code: 0, stderr: `an earlier restore left ${aside}` })
  mkdirSync(`${dir}.restoring`)
  t.match(checkDataFolder(dir), { state: 'warn', fix: `if none is running: rm -r ${dir}.restoring` })
  writeFileSync(join(dir, 'minds.db'), '')
  const erased = await here('data', 'erase', 'minds', '--yes')
  t.equal(erased.code, 0, erased.stderr)
  for (const left of [aside, `${dir}.restoring`])
    t.match(erased.stderr, `leftovers of a restore may still contain the data: ${left}`)
})
