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
import { commands } from '../../src/cli/commands.ts'
import { bytesOf, dataOf, eraseData, forgetClients } from '../../src/cli/erase-data.ts'
import { followLines, lastLines } from '../../src/cli/log-tail.ts'
import { dataCheck } from '../../src/cli/machine-checks.ts'
import { replaceFile } from '../../src/cli/replace-file.ts'
import { progressLine } from '../../src/cli/watching.ts'
import { flagOf, type SettingKey, settings } from '../../src/config.ts'
import { listLogFiles, logNames } from '../../src/log-files.ts'
import { addedRoots } from '../../src/roots.ts'
import { openServerStore } from '../../src/server-store.ts'
import { version } from '../../src/version.ts'
import { runHere } from './run-here.ts'

t.testdir()

verifies('command:help', async (t) => {
  const { code, stdout } = await runHere(t, ['--help'])
  t.equal(code, 0)
  t.ok(stdout.split('\n').length < 40, 'it is one screen')
  for (const { name, about } of commands) {
    t.ok(stdout.includes(`  ${name}`) && stdout.includes(about), name)
    const own = await runHere(t, [name, '--help'])
    t.equal(own.code, 0)
    t.same((await runHere(t, ['help', name])).stdout, own.stdout)
    t.match(own.stdout, `usage: causeway ${name}`)
    t.match(own.stdout, /exit codes:\n {2}0 {2}/)
  }
  t.match((await runHere(t, ['serve', '--help'])).stdout, '--shutdown-ms', 'serve lists every setting')
  t.equal((await runHere(t, ['--version'])).stdout, `${version}\n`)
  t.equal((await runHere(t, ['help'])).stdout, stdout)
})

verifies('command:help', 'bad settings keep nobody from reading it', async (t) => {
  const around = { env: { MCP_SERVER_PORT: 'many' } }
  t.equal((await runHere(t, ['--help'], around)).code, 0)
  t.equal((await runHere(t, ['status', '--help'], around)).code, 0)
})

verifies('command:wrong-line', async (t) => {
  const refused = async (argv: string[], told: RegExp) => {
    const { code, stdout, stderr } = await runHere(t, argv)
    t.match({ code, stdout }, { code: 2, stdout: '' }, argv.join(' '))
    t.match(stderr, told)
  }
  await refused(['statsu'], /unknown command: statsu \(did you mean status\?\); see causeway --help/)
  await refused(['status', '--follow'], /unknown flag: --follow of status/)
  await refused(['status', '--josn'], /unknown flag: --josn \(did you mean --json\?\)/)
  await refused(['status', '--json=yes'], /--json takes no value/)
  await refused(['logs', '--lines'], /--lines needs a value/)
  await refused(['logs', '--lines', 'ten'], /--lines is a whole number: ten; see causeway logs --help/)
  await refused(['status', 'now'], /status takes no words: now/)
  await refused(['roots', 'put', '/x'], /not a form of roots: put \/x/)
  await refused(['status', '--port', 'many'], /INVALID_SETTING: MCP_SERVER_PORT/)
})

t.test(
  'commands: no flag has the name of a setting, and one name takes a value or none everywhere',
  async (t) => {
    const takes = new Map((Object.keys(settings) as SettingKey[]).map((key) => [flagOf(key), 'a setting']))
    for (const { name, flags } of commands)
      for (const [flag, { value }] of Object.entries(flags)) {
        const kind = value === undefined ? 'a switch' : 'a value'
        t.equal(takes.get(flag) ?? kind, kind, `--${flag} of ${name}`)
        takes.set(flag, kind)
      }
  },
)

t.test('commands: a setting that a help shows exists', async (t) => {
  const known = (Object.keys(settings) as SettingKey[]).map((key) => `--${flagOf(key)}`)
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
      'server.log.bak': line('not of them'),
    },
    state: { causeway: { 'server-3100.log': '' } },
  })
  const logs = (...words: string[]) =>
    runHere(t, ['logs', '--data-dir', dir, ...words], { env: { XDG_STATE_HOME: join(dir, 'no-state') } })
  const raw = await logs('--json', '-n', '2')
  t.same(raw.stdout, line('two') + line('three'), 'numbers, not names, give the order')
  t.match((await logs()).stdout, /INFO.*: one\n.*: two\n.*: three\n$/s)
  t.match((await logs('errors')).stdout, /: bad/)
  t.equal((await logs('--path')).stdout, `${join(dir, 'logs/server.10.log')}\n`)
  const none = await logs('audit')
  t.match(none, { code: 1, stdout: '' })
  t.match(none.stderr, /NO_LOG_FILES.*CAUSEWAY_LOG_FILES=true/)
  const env = { XDG_STATE_HOME: join(dir, 'state') }
  const autostarted = await runHere(t, ['logs', '--data-dir', join(dir, 'none')], { env })
  t.match(autostarted.stderr, join(dir, 'state/causeway/server-3100.log'), 'that of a bridge is named')
  t.equal((await logs('everything')).code, 2)
})

verifies('command:logs', 'followed lines go on into the next file, whole lines only', async (t) => {
  const dir = t.testdir({ 'server.1.log': 'past\n' })
  const [first, second] = [join(dir, 'server.1.log'), join(dir, 'server.2.log')]
  const files = () => listLogFiles(dir, logNames.server).map(({ path }) => path)
  const { lines, end } = lastLines(files(), 10)
  t.same(lines, ['past'])
  const stop = new AbortController()
  const following = followLines(files, { file: first, offset: end }, { signal: stop.signal, everyMs: 1 })
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
  t.equal(await next(), undefined, 'it ends')
})

t.test('progressLine: one line that is written over, on a terminal alone', async (t) => {
  const written: string[] = []
  const terminal = { isTTY: true, columns: 20, write: (text: string) => written.push(text) > 0 }
  const line = progressLine(terminal as unknown as NodeJS.WriteStream)
  line.end()
  t.same(written, [], 'nothing to take away')
  line.show?.(1000, 2000, 'a/very/long/path/of/a/file.db')
  line.end()
  line.end()
  t.same(written, ['\r\x1b[K1.0 kB of 2.0 kB', '\r\x1b[K'])
  t.equal(progressLine({ isTTY: false } as NodeJS.WriteStream).show, undefined)
})

verifies('command:init:careful', 'a file that another program changes meanwhile is left to it', async (t) => {
  const dir = t.testdir({ 'a.json': 'old' })
  const path = join(dir, 'a.json')
  writeFileSync(path, 'newer')
  t.throws(() => replaceFile(path, { text: 'ours', before: 'old' }), { code: 'CLIENT_FILE_REFUSED' })
  t.throws(() => replaceFile(path, { text: 'ours', before: undefined }), { code: 'CLIENT_FILE_REFUSED' })
  t.same(t.testdirName, dir)
})

verifies('command:roots', async (t) => {
  const cwd = t.testdir({ simulations: {}, plots: {}, code: {} })
  const data = join(cwd, 'data')
  const env = { CAUSEWAY_DATA_DIR: data, CAUSEWAY_PLOT_ROOTS: join(cwd, 'plots') }
  const roots = (...words: string[]) => runHere(t, ['roots', ...words], { env, cwd })

  t.match(await roots('add', 'simulations'), { code: 0, stdout: `${join(cwd, 'simulations')}\n`, stderr: '' })
  const late = await roots('add', 'later')
  t.equal(late.stdout, `${join(cwd, 'simulations')}\n${join(cwd, 'later')}\n`, 'the folders as they are then')
  t.match(late.stderr, 'there is no such folder yet')

  const { stdout } = await roots()
  t.equal((await roots('list')).stdout, stdout)
  const [, debrief = ''] = /^Debrief\n((?: {2}.*\n)+)/m.exec(stdout) ?? []
  t.same(debrief.trim().split(/\n */), [
    `${join(cwd, 'plots')}  (CAUSEWAY_PLOT_ROOTS)`,
    `${cwd}  (CAUSEWAY_ROOTS)`,
    `${join(cwd, 'simulations')}  (causeway roots add)`,
    `${join(cwd, 'later')}  (causeway roots add, missing)`,
  ])
  t.match(stdout, /^Trm\n {2}none: set CAUSEWAY_TRM_ROOTS$/m, 'which reads what it is given alone')

  t.match(await roots('remove', 'later'), { code: 0, stdout: `${join(cwd, 'simulations')}\n` })
  t.match(await roots('remove', 'later'), { code: 1, stderr: /was not added/ })
  t.match(await roots('remove', '.'), { code: 1, stderr: /take it out of CAUSEWAY_ROOTS/ })
  t.same(addedRoots(data), [join(cwd, 'simulations')])
})

const parts: readonly DataPart[] = [
  { path: 'cache/', kind: 'passing' },
  { path: 'runs/*.db', kind: 'database' },
  { path: 'runs/*-notes', kind: 'files' },
  { path: 'own.db', kind: 'database' },
]

verifies(
  'command:data:erase',
  'its files, folders and patterns, with what SQLite keeps beside them',
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
    const paths = dataOf(dir, parts)
    t.same(paths, [
      'cache',
      'own.db',
      'own.db-shm',
      'own.db.initialized',
      'runs/one-notes',
      'runs/one.db',
      'runs/one.db-wal',
    ])
    t.ok(bytesOf(join(dir, 'cache')) >= 5)
    t.equal(bytesOf(join(dir, 'nowhere')), 0)
    eraseData(dir, paths)
    t.same(readdirSync(dir).sort(), ['own.database', 'runs'])
    t.same(readdirSync(join(dir, 'runs')), ['other.txt'])
    t.equal(readFileSync(join(root, 'outside/kept'), 'utf8'), 'x', 'links are not followed')
    t.same(dataOf(dir, parts), [])
  },
)

t.test('eraseData: a folder that is empty then goes too', async (t) => {
  const dir = t.testdir({ runs: { 'one.db': '1' } })
  eraseData(dir, dataOf(dir, parts))
  t.notOk(existsSync(join(dir, 'runs')))
})

verifies(
  'command:data:erase',
  'the state of clients in the app is forgotten, in others it stays',
  async (t) => {
    const dir = t.testdir()
    forgetClients(dir, 'Minds')
    t.same(readdirSync(dir), [], 'where there is no server.db, none is made')
    const open = () => openServerStore(join(dir, 'server.db'), { now: Date.now })
    const before = await open()
    await before.states.save('me', 'Minds', '{"mind":"a"}')
    await before.states.save('me', 'Replay', '{"recording":"r"}')
    await before.close()
    forgetClients(dir, 'Minds')
    const after = await open()
    t.teardown(() => after.close())
    t.equal(await after.states.load('me', 'Minds'), undefined)
    t.equal(await after.states.load('me', 'Replay'), '{"recording":"r"}')
  },
)

verifies('backup:restore-cut-short', 'what it left is told by restore, doctor and erase', async (t) => {
  const root = t.testdir({ data: { 'notes.txt': 'mine' } })
  const [dir, backup] = [join(root, 'data'), join(root, 'backup')]
  const here = (...words: string[]) => runHere(t, [...words, '--data-dir', dir])
  t.match(await here('backup', backup), { code: 0 })
  const aside = `${dir}.before-2026-01-01T00-00-00-000Z`
  mkdirSync(aside)
  t.match(await here('restore', backup, '--replace'), { code: 0, stderr: `an earlier restore left ${aside}` })
  mkdirSync(`${dir}.restoring`)
  t.match(dataCheck(dir), { state: 'warn', fix: `if none runs: rm -r ${dir}.restoring` })
  writeFileSync(join(dir, 'minds.db'), '')
  const erased = await here('data', 'erase', 'minds', '--yes')
  t.equal(erased.code, 0, erased.stderr)
  for (const left of [aside, `${dir}.restoring`])
    t.match(erased.stderr, `what a restore left may hold it: ${left}`)
})
