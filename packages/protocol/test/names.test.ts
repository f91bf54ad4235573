import t from 'tap'
import { pathName, splitWireName, wireName, wireNamePattern } from '../src/names.ts'

t.test('wireName: app and tool, divided by two underscores', async (t) => {
  t.equal(wireName('Replay', 'get_frame'), 'Replay__get_frame')
  t.match(wireName('A1', 'b2_c3'), wireNamePattern)
})

t.test('wireName: what a client could not use is refused', async (t) => {
  for (const [app, tool] of [
    ['replay', 'get_frame'],
    ['Re__play', 'get_frame'],
    ['Replay', 'getFrame'],
    ['Replay', 'get__frame'],
    ['Replay', '_x'],
    ['Replay', 'trm.start'],
    ['Replay', 'x'.repeat(42)],
  ] as const)
    t.throws(() => wireName(app, tool), { code: 'INVALID_APP' }, `${app} ${tool}`)
  t.equal(wireName('Replay', 'x'.repeat(41)).length, 49)
})

t.test('splitWireName: the inverse, and undefined for what is none', async (t) => {
  t.same(splitWireName('Replay__get_frame'), { app: 'Replay', tool: 'get_frame' })
  t.equal(splitWireName('get_frame'), undefined)
  t.equal(splitWireName('__get_frame'), undefined)
})

t.test('pathName: lower case', async (t) => {
  t.equal(pathName('ToolVault'), 'toolvault')
})
