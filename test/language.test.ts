// cspell:ignore recieved
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lintLanguage } from './language/lint.ts'
import { findRetired } from './language/patterns.ts'
import { exempt } from './language/vocabulary.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

const texts = {
  'close.ts': '/**\n * Closes the plot.\n * Clients are told.\n */\nexport const close = 1\n',
  'names.ts': 'export const clientsTold = 1\nexport function nameOf(mostBytes: number) {}\n',
  'list.test.ts': "t.test('list_plots answers whoever calls it', async () => {})\n",
  'plots.md': '# Plots\n\nOpen the plot anew if there\nis none.\n',
  'list-plots.ts': "app.tool('list_plots', { about: 'Tell which plots are open.' })\n",
  'typo.md': 'Open the recieved plot.\n',
}
// One run of what `npm run lint` runs.
const problems = await lintLanguage(t.testdir(texts), Object.keys(texts))

/** Returns the problems of one file, without the suggested replacements. */
function problemsIn(name: keyof typeof texts): string[] {
  const prefix = `${name}:`
  return problems
    .filter((line) => line.startsWith(prefix))
    .map((line) => line.slice(prefix.length).replace(/ fix: .*/, ''))
}

verifies('workshop:language:lint', 'lint reports a retired word in a comment', async (t) => {
  t.same(problemsIn('close.ts'), ['3:16 - Forbidden word (told)'])
})

verifies('workshop:language:lint', 'lint reports retired words and patterns in identifiers', async (t) => {
  t.same(problemsIn('names.ts'), [
    '1:21 - Forbidden word (Told)',
    '2: retired name "nameOf"',
    '2: retired name "mostBytes"',
  ])
})

verifies('workshop:language:lint', 'lint reports a retired word in a test title', async (t) => {
  t.same(problemsIn('list.test.ts'), ['1:28 - Forbidden word (whoever)'])
})

verifies('workshop:language:lint', 'lint reports retired words and phrases in a doc page', async (t) => {
  t.same(problemsIn('plots.md'), ['3:15 - Forbidden word (anew)', '4: retired phrase "is none"'])
})

verifies('workshop:language:lint', 'lint reports a retired word in a tool description', async (t) => {
  t.same(problemsIn('list-plots.ts'), ['1:34 - Forbidden word (Tell)'])
})

verifies('workshop:language:lint', 'lint reports an unknown word', async (t) => {
  t.same(problemsIn('typo.md'), ['1:10 - Unknown word (recieved)'])
})

t.test('findRetired matches phrases across the lines of a comment', async (t) => {
  const text = '// A plot without features\n// is no\n// plot.\n'
  t.same(findRetired('a.ts', text), ['a.ts:2: retired phrase "is no plot"'])
  t.same(findRetired('a.ts', '// There is no plot, and it is no longer open.\n'), [])
})

t.test('findRetired accepts imported names, members and names of the language', async (t) => {
  const text = [
    "import { nameOf } from './name.ts'",
    'const first = names.indexOf(nameOf(plot)) + limits.mostBytes',
    "const schema = { oneOf: ['mostBytes'] }",
  ].join('\n')
  t.same(findRetired('a.ts', text), [])
  t.same(findRetired('a.md', 'the function `nameOf`'), [])
})

t.test('the exempt files exist', async (t) => {
  t.same(
    exempt.filter((path) => !existsSync(join(repository, path))),
    [],
  )
})

t.test('the dictionaries are sorted', async (t) => {
  for (const name of ['dictionary.txt', 'dictionary-test-data.txt']) {
    const words = readFileSync(join(repository, 'test/language', name), 'utf8')
      .trimEnd()
      .split('\n')
    t.same(words, [...new Set(words)].sort(), name)
  }
})
