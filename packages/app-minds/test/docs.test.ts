import { readFileSync } from 'node:fs'
import t from 'tap'
import { actionNames } from '../src/domain/action.ts'
import { limitsSchema } from '../src/limits.ts'
import { readConfig } from '../src/wire/read-config.ts'

const text = readFileSync(new URL('../../../docs/minds.md', import.meta.url), 'utf8')

/** Rows of the table that begins with this column. */
const tableOf = (column: string): readonly (readonly string[])[] => {
  const [, rows = ''] =
    new RegExp(`^\\| ${column} \\|.*\\n\\| ---.*\\n((?:\\|.*\\n?)+)`, 'm').exec(text) ?? []
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split(/(?<!\\)\|/).slice(1, -1))
}
const named = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)

t.test('docs/minds.md: every limit is there with its default, and no other', async (t) => {
  const shown = tableOf('limit').flatMap(([names, defaults = '']) => {
    const values = defaults.split(',').map(Number)
    return named(names).map((name, index) => [name, values[index]] as const)
  })
  t.same(Object.fromEntries(shown), limitsSchema.parse({}))
})

t.test('docs/minds.md: every member of a config is there, and no other', async (t) => {
  const shown = text.slice(text.indexOf('## A character'), text.indexOf('## A language model'))
  const rows = shown.split('\n').filter((line) => line.startsWith('| `'))
  const members = rows.flatMap((row) => named(row.split('|')[1]))
  const all = Object.fromEntries(members.map((name) => [name, undefined]))
  const { config, warnings } = readConfig(all, limitsSchema.parse({}))
  t.same(
    warnings.filter((warning) => warning.startsWith('config:')),
    [],
    'none is unknown',
  )
  t.same(
    Object.keys(config).filter((name) => !members.includes(name)),
    [],
    'each with a default is told',
  )
})

t.test('docs/minds.md: every action of the policy and the menu is there', async (t) => {
  const shown = new Set(tableOf('action').flatMap(([names]) => named(names)))
  const rare = ['move_direction', 'mark_zone']
  t.same([...shown].sort(), actionNames.filter((name) => !rare.includes(name)).sort())
})
