import { readFileSync } from 'node:fs'
import t from 'tap'
import { files, repository } from './tree.ts'

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')

/** The first cells of the tables under a heading of CONTRIBUTING.md, without their code marks. */
function firstCells(heading: string): string[] {
  const [, section = ''] = read('CONTRIBUTING.md').split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^\| `(.+?)` \|/gm)].map(([, cell]) => cell ?? '')
}

t.test('contributing: every step of .ci/run has its row, in order', async (t) => {
  const steps = [...read('.ci/run').matchAll(/^ {2}"(\S+) \d+ /gm)].map(([, name]) => name)
  t.ok(steps.length > 10)
  t.same(firstCells('Continuous integration'), steps)
})

t.test('contributing: every variable of ours that a test reads has its row', async (t) => {
  const tests = files(repository).filter((path) => /(^|\/)test\/.+\.(ts|mjs)$/.test(path))
  const found = tests.flatMap((path) =>
    [...read(path).matchAll(/process\.env\.(CAUSEWAY_\w+)/g)].map(([, name = '']) => name),
  )
  const told = firstCells('Variables that tests read')
  t.ok(found.length > 10)
  t.same(
    found.filter((name) => !told.includes(name)),
    [],
  )
})
