import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { dataCheck } from '../../src/cli/machine-checks.ts'
import { runHere } from './run-here.ts'

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
