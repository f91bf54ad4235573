import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readTarget, targetOf } from '../src/target.ts'

verifies('bridge:setting:app', 'readTarget: an app has its own path below that of the server', async (t) => {
  t.equal(String(readTarget(undefined, 'Replay')), 'http://localhost:3100/mcp/replay')
  t.equal(String(readTarget('https://a/x/mcp?k=1', 'replay')), 'https://a/x/mcp/replay?k=1')
  t.equal(String(readTarget('unix:/run/c.sock:/mcp', 'replay')), 'unix:/run/c.sock:/mcp/replay')
  for (const [url, app] of [
    ['http://a/sse', 'replay'],
    ['http://a/mcp', 're/play'],
    ['http://a/mcp', '..'],
  ])
    t.throws(() => readTarget(url, app), { code: 'INVALID_SETTING' })
})

verifies('bridge:socket', 'targetOf: the socket and the path are told apart', async (t) => {
  t.same(targetOf(readTarget('unix:/run/a b/c:1.sock:/mcp?x=1')), {
    origin: 'http://localhost',
    path: '/mcp?x=1',
    socketPath: '/run/a b/c:1.sock',
  })
  t.same(targetOf(readTarget('http://h:1/mcp?x=1')), {
    origin: 'http://h:1',
    path: '/mcp?x=1',
    socketPath: undefined,
  })
  for (const url of ['unix:/run/c.sock', 'unix:c.sock:/mcp', 'unix:/run/c.sock:', 'unix://host/c.sock'])
    t.throws(() => readTarget(url), { code: 'INVALID_SETTING' }, url)
})

t.test('readTarget: a path of an app is not an app of a path', async (t) => {
  t.throws(() => readTarget('http://a/mcp/replay', 'help'), { code: 'INVALID_SETTING' })
})
