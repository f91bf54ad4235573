import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { addedRoots } from '../../src/roots.ts'
import { runHere } from './run-here.ts'

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
