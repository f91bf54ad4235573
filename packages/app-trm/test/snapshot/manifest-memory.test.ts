import t from 'tap'
import { manifestMemory } from '../../src/snapshot/manifest-memory.ts'

const listOf = (count: number) => ({
  root: '/project',
  entries: Array.from({ length: count }, (_, i) => ({
    path: `file-${i}`,
    kind: 'file' as const,
    blob: 'b',
    mode: 0o644,
    bytes: 1,
  })),
})

t.test('manifestMemory: lists are kept, counted and given back, the longest kept first', async (t) => {
  const memory = manifestMemory()
  memory.keep('a', listOf(10))
  const { entries } = memory.keep('b', listOf(20))
  t.equal(entries.length, 20)
  const bytes = memory.bytes()
  t.ok(bytes > 30 * 200)
  memory.keep('b', listOf(20))
  t.equal(memory.bytes(), bytes, 'what is kept again counts once')
  t.ok(memory.shrink(1) > 0)
  t.equal(memory.get('a'), undefined)
  t.equal(memory.get('b')?.entries.length, 20)
  memory.delete('b')
  t.equal(memory.bytes(), 0)
})
