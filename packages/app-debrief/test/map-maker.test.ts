import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { openMapMaker } from '../src/map-maker.ts'

t.test('openMapMaker: the coastline is let go when nobody wants a chart, and comes back', async (t) => {
  const maker = openMapMaker({ warn: () => undefined }, { idleMs: 1 })
  t.teardown(() => maker.close())
  const { signal } = new AbortController()
  const data = { bounds: [-6, 35, -4, 37], drawables: [], hidden: 0, total: 0, time: null } as const
  for (const turn of ['first', 'again']) {
    const { png } = await maker.draw({ data, title: 'Sea', width: 300 }, signal)
    t.ok(png.length > 500, turn)
    while (maker.isAwake) await turnOfLoop()
  }
})
