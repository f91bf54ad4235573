import { verifies } from '../../../test/verifies.ts'
import { chooseWireNames } from '../src/domain/names.ts'

verifies('gateway:app', 'chooseWireNames returns the same names in any order of the tools', async (t) => {
  const names = ['a b', 'a/b', 'a_c', 'a c', 'größe', 'get-env', 'x'.repeat(60)]
  const digest = (text: string): string => Buffer.from(text).toString('hex').padEnd(8, '0')
  const chosen = chooseWireNames('App', names, digest)
  t.same(Object.fromEntries(chosen), {
    'a b': 'App__a_b_61206200',
    'a/b': 'App__a_b_612f6200',
    a_c: 'App__a_c',
    'a c': 'App__a_c_61206300',
    größe: 'App__gr__e',
    'get-env': 'App__get-env',
    ['x'.repeat(60)]: `App__${'x'.repeat(35)}_78787878`,
  })
  const reversed = chooseWireNames('App', [...names].reverse(), digest)
  for (const name of names) t.equal(reversed.get(name), chosen.get(name), name)
})
