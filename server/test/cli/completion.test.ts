import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { commands } from '../../src/cli/commands.ts'
import { runHere } from './run-here.ts'

const print = async (t: Test, shell: string): Promise<string> =>
  (await runHere(t, ['completion', shell])).stdout

/** Returns options that skip a test if the shell is missing. */
const needs = (shell: string) =>
  spawnSync(shell, ['-c', 'exit 0']).status === 0 ? {} : { skip: `${shell} is not installed` }

verifies('command:completion', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await print(t, shell)
    for (const { name, flags } of commands) {
      t.match(script, name)
      for (const flag of Object.keys(flags)) t.match(script, flag, `--${flag} in ${shell}`)
    }
  }
  t.match(await runHere(t, ['completion', 'csh']), { code: 2, stderr: /use bash, zsh, fish/ })
})

t.test('bash completes commands, arguments and flags', needs('bash'), async (t) => {
  const script = await print(t, 'bash')
  const complete = (...words: string[]) => {
    const program = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}\n_causeway\nprintf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).split('\n').filter(Boolean)
  }
  t.same(complete('causeway', 'st'), ['status', 'stop'])
  t.same(complete('causeway', 'init', 'c'), ['claude', 'cursor'])
  t.same(complete('causeway', 'logs', '--f'), ['--follow'])
  t.same(complete('causeway', 'backup', '--data'), ['--data-dir'])
  t.ok(complete('causeway', '').includes('completion'))
})

/** Types texts, each followed by Tab and Enter, into an interactive zsh, and prints the arguments of the command that then runs. */
const zshTypist = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= RPROMPT=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D
causeway() { print -r -- \\"RAN:\\" \\"\\$@\\" }; print -r -- RE\\"\\"ADY"
zpty -r shell line '*READY*'
shift
for text in "$@"; do
  zpty -w -n shell "$text"$'\\t\\n'
  zpty -r shell line $'*RAN: *\\n'
  print -r -- "\${\${line##*RAN: }%%$'\\r'*}"
done
zpty -d shell`

t.test('zsh completes commands, their arguments and flags', needs('zsh'), async (t) => {
  const folder = t.testdir({ _causeway: await print(t, 'zsh'), 'type.zsh': zshTypist, monday: {} })
  const typed = [
    'stat',
    'init cu',
    'connect claude-d',
    'mcp logo',
    'logs --fol',
    'backup --data-d',
    'backup mon',
  ]
  const output = execFileSync(
    'zsh',
    ['-f', join(folder, 'type.zsh'), folder, ...typed.map((text) => `causeway ${text}`)],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, TERM: 'dumb' }, timeout: 60_000 },
  )
  const ran = output.trim().split('\n')
  t.same(ran, [
    'status',
    'init cursor',
    'connect claude-desktop',
    'mcp logout',
    'logs --follow',
    'backup --data-dir',
    'backup monday',
  ])
})

t.test('fish completes commands, their arguments and flags', needs('fish'), async (t) => {
  const folder = t.testdir({ 'causeway.fish': await print(t, 'fish'), monday: {} })
  const complete = (line: string) => {
    const program = `source causeway.fish; complete -C'causeway ${line}'`
    const output = execFileSync('fish', ['--no-config', '-c', program], { cwd: folder, encoding: 'utf8' })
    return output.split('\n').flatMap((row) => row.split('\t')[0] || [])
  }
  t.same(complete('st'), ['status', 'stop'])
  t.same(complete('init c'), ['claude', 'cursor'], 'files are not offered where a word is expected')
  t.notOk(
    complete('mcp logs s').includes('server'),
    'words of the command logs are not offered after mcp logs',
  )
  t.same(complete('logs --f'), ['--follow'])
  t.same(complete('backup --data'), ['--data-dir'])
  t.same(complete('backup mon'), ['monday/'])
  t.same(complete('roots add mon'), ['monday/'])
})
