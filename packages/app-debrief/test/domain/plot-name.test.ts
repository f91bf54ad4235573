import { verifies } from '../../../../test/verifies.ts'
import { plotName, titleOf } from '../../src/domain/plot-name.ts'

verifies('debrief:names', 'by the form of the name alone', async (t) => {
  const bad = [
    '../x.plot.json',
    '../../etc/passwd.plot.json',
    'a/b.plot.json',
    '..\\x.plot.json',
    '%2e%2e/x.plot.json',
    '%2e%2e%2fx.plot.json',
    'x\0.plot.json',
    'x\n.plot.json',
    '.plot.json',
    '.hidden.plot.json',
    'x.json',
    'x.plot.json ',
    'x .plot.json',
    ' x.plot.json',
    'CON.plot.json',
    'c:x.plot.json',
    `${'x'.repeat(250)}.plot.json`,
    '',
  ]
  for (const name of bad) t.throws(() => plotName(name), { code: 'INVALID_FILENAME' }, JSON.stringify(name))
  t.equal(plotName('U\u0308ber plan.plot.json'), '\u00dcber plan.plot.json')
  t.equal(plotName('mission1.plot.json'), 'mission1.plot.json')
  t.equal(titleOf('mission1.plot.json'), 'mission1')
})
