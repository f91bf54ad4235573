import t from 'tap'
import { environmentBody, isEnvironmentId, resolveBodyId } from '../../src/domain/body-id.ts'

const floor = 0x8000_0001

t.test('resolveBodyId: recorded ids stand for themselves, also above int32', async (t) => {
  t.equal(resolveBodyId(1, new Set([1]), new Set([floor])), 1)
  t.equal(resolveBodyId(floor, new Set([1]), new Set([floor])), floor)
})

t.test(
  'resolveBodyId: a plain number is the environment body only where no dynamic body has it',
  async (t) => {
    t.equal(resolveBodyId(1, new Set([2]), new Set([floor])), floor)
    t.equal(resolveBodyId(1, new Set([1, 2]), new Set([floor])), 1)
    t.equal(resolveBodyId(7, new Set([1]), new Set([floor])), null)
  },
)

t.test('environmentBody: bit 31 marks the id and is not part of the instance', async (t) => {
  t.same(environmentBody(floor), { body_id: floor, instance_id: 1 })
  t.ok(isEnvironmentId(floor))
  t.notOk(isEnvironmentId(0x7fff_ffff))
})
