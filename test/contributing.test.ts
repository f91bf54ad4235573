import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { files, repository } from './tree.ts'

const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')

/** The first cells of the tables under a heading of CONTRIBUTING.md, without code marks. */
function firstCells(heading: string): string[] {
  const [, section = ''] = read('CONTRIBUTING.md').split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^\| `(.+?)` \|/gm)].map(([, cell]) => cell ?? '')
}

t.test('CONTRIBUTING.md has at most 150 lines', async (t) => {
  t.ok(read('CONTRIBUTING.md').trimEnd().split('\n').length <= 150)
})

t.test('the time limits of the steps of .ci/run add up to at most 85 minutes', async (t) => {
  const limits = [...read('.ci/run').matchAll(/^ {2}"\S+ (\d+) /gm)].map(([, seconds]) => Number(seconds))
  t.ok(limits.length > 10)
  const minutes = limits.reduce((sum, seconds) => sum + seconds, 0) / 60
  t.ok(minutes <= 85, `${minutes} minutes`)
})

t.test('CONTRIBUTING.md lists exactly the npm scripts of package.json', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const [, text = ''] = read('CONTRIBUTING.md').split(/^## /m)
  const listed = [
    ...text.matchAll(/`npm run ([\w:]+)/g),
    ...text.matchAll(/`npm (start|test)\b/g),
    ...text.matchAll(/`(help:\w+)`/g),
  ].map(([, name = '']) => name)
  t.same([...new Set(listed)].sort(), Object.keys(scripts).sort())
})

t.test('CONTRIBUTING.md refers only to existing files', async (t) => {
  const text = read('CONTRIBUTING.md')
  const folders = new Set(files(repository).map((path) => path.split('/')[0] ?? ''))
  const named = [...text.matchAll(/(?<![\w/.-])((?:[\w.-]+\/)+[\w.-]*|[A-Z]+\.md)/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.has(path.split('/')[0] ?? ''))
  t.ok(named.length > 10)
  t.same(
    named.filter((path) => !existsSync(`${repository}/${path}`)),
    [],
  )
})

t.test('CONTRIBUTING.md lists every step of .ci/run in order', async (t) => {
  const steps = [...read('.ci/run').matchAll(/^ {2}"(\S+) \d+ /gm)].map(([, name]) => name)
  t.ok(steps.length > 10)
  t.same(firstCells('Continuous integration'), steps)
})

t.test('CONTRIBUTING.md lists every CAUSEWAY_ variable that a test reads', async (t) => {
  const tests = files(repository).filter((path) => /(^|\/)test\/.+\.(ts|mjs)$/.test(path))
  const found = tests.flatMap((path) =>
    [...read(path).matchAll(/process\.env\.(CAUSEWAY_\w+)/g)].map(([, name = '']) => name),
  )
  const listed = firstCells('Variables that tests read')
  t.ok(found.length > 10)
  t.same(
    found.filter((name) => !listed.includes(name)),
    [],
  )
})

t.test('every decision record has its row in the index, one format and at most 30 lines', async (t) => {
  const records = files(repository).filter((path) => /^docs\/decisions\/\d{4}-.+\.md$/.test(path))
  const index = read('docs/decisions/README.md')
  t.ok(records.length > 10)
  for (const path of records) {
    const text = read(path)
    const name = path.split('/').at(-1) ?? ''
    t.ok(index.includes(`](${name})`), `${name} is in the index`)
    t.ok(text.trimEnd().split('\n').length <= 30, `${name} has at most 30 lines`)
    t.same(
      text.match(/^## .+$/gm),
      ['## Context', '## Decision', '## Consequences'],
      `${name} has the format`,
    )
  }
})
