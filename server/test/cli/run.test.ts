import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { commands } from '../../src/cli/commands.ts'
import { flagOf, type SettingKey, settings } from '../../src/config.ts'
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
