import t from 'tap'
import { judge } from '../scripts/coverage.ts'
import { verifies } from './verifies.ts'

const floors = [
  { part: 'pure', pattern: /^pure\//, percent: 100 },
  { part: 'the rest', pattern: /./, percent: 50 },
]

t.test('coverage: each part is judged by its own floor, and a failure names the worst files', async (t) => {
  const sources = ['pure/a.ts', 'pure/b.ts', 'rim/c.ts'].map((path) => ({ path, text: '' }))
  const covered = new Map([
    ['pure/a.ts', { total: 10, covered: 10 }],
    ['pure/b.ts', { total: 10, covered: 9 }],
    ['rim/c.ts', { total: 10, covered: 5 }],
  ])
  t.same(judge(sources, covered, floors), {
    lines: ['pure: 95.0 % of lines, floor 100 %', 'the rest: 50.0 % of lines, floor 50 %'],
    failures: ['pure is below its floor; worst: pure/b.ts (1)'],
  })
})

verifies('workshop:coverage:absent-file', async (t) => {
  const text = [
    '// a comment',
    `import { x } from './x.ts'`,
    'export function f() {',
    '  return x',
    '}',
  ].join('\n')
  const { failures } = judge([{ path: 'rim/absent.ts', text }], new Map(), floors)
  t.same(failures, ['the rest is below its floor; worst: rim/absent.ts (3)'])
})

t.test('coverage: an absent file of types and re-exports has no lines', async (t) => {
  const text = [
    '/** A shape. */',
    'export interface Shape {',
    '  readonly size: number',
    '}',
    `export type { A } from './a.ts'`,
    `export { b, c } from './b.ts'`,
    `export * from './d.ts'`,
  ].join('\n')
  t.same(judge([{ path: 'rim/index.ts', text }], new Map(), floors).failures, [])
})
