import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import type { Help } from '../../src/store.ts'
import { indexing, scopeOf, told } from '../../src/tools/shape.ts'

/** Only what the functions look at. */
const help = (internal: boolean, building?: ReturnType<Help['building']>): Help =>
  ({ settings: { internal }, building: () => building }) as unknown as Help

verifies('help:indexing', async (t) => {
  t.same(indexing(help(false)), {})
  t.same(indexing(help(false, { done: 3, total: 9, message: 'reading pages' })), {
    indexing: 'the documentation is being indexed: reading pages, 3 of 9',
  })
  t.same(indexing(help(false, { done: 0, total: null, message: 'starting' })), {
    indexing: 'the documentation is being indexed: starting',
  })
})

t.test('scopeOf and told: internal pages only where the operator allows them', async (t) => {
  t.throws(() => scopeOf(help(false), { include_internal: true }), { code: 'HELP_INTERNAL_FORBIDDEN' })
  t.same(scopeOf(help(true), { include_internal: true, section: 'x' }), { internal: true, section: 'x' })
  t.same(told(help(false), { is_internal: false, a: 1 }), { a: 1 })
  t.same(told(help(true), { is_internal: true, a: 1 }), { is_internal: true, a: 1 })
})
