import { spawnSync } from 'node:child_process'
import t from 'tap'
import { repository } from './tree.ts'

/** Runs the soak with arguments that it refuses; what is cheap to refuse is refused at once. */
function soak(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/soak/main.ts', ...args], {
    cwd: repository,
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { status, stdout, stderr }
}

t.test('soak: an unknown part is refused with the names of those that there are', async (t) => {
  for (const name of ['bridge', '', 'toString'])
    t.same(soak('--only', name), {
      status: 1,
      stdout: '',
      stderr: `soak: no such part: ${name}; there are bridges, product, chaos, attack\n`,
    })
})

t.test('soak: rejects malformed numbers and numbers that are not positive', async (t) => {
  t.same(soak('--seconds', 'abc', '--bridges', '0', '--seed', 'Infinity'), {
    status: 1,
    stdout: '',
    stderr: [
      'soak: --seconds must be a number above 0: abc',
      'soak: --bridges must be a number above 0: 0',
      'soak: --seed must be a number above 0: Infinity',
      '',
    ].join('\n'),
  })
})
