import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readSettings } from '../src/settings.ts'

verifies('bridge:setting:url', 'readSettings: flag before environment before default', async (t) => {
  const url = (args: string[], env = {}) => String((readSettings(args, env) as { url: URL }).url)
  t.equal(url([]), 'http://localhost:3100/mcp')
  t.equal(url([], { MCP_SERVER_URL: '' }), 'http://localhost:3100/mcp')
  t.equal(url([], { MCP_SERVER_URL: ' http://a:1/mcp\n' }), 'http://a:1/mcp')
  t.equal(
    url(['--url', 'https://b/mcp/replay?x=1'], { MCP_SERVER_URL: 'http://a' }),
    'https://b/mcp/replay?x=1',
  )
})

verifies('bridge:setting:url', 'readSettings: what is wrong is refused with its name', async (t) => {
  const refused = (args: string[], env = {}) =>
    t.throws(() => readSettings(args, env), { code: 'INVALID_SETTING' })
  for (const url of ['nonsense', 'ftp://a/mcp', 'file:///mcp', 'http://user:secret@a/mcp', 'localhost:3100'])
    refused(['--url', url])
  for (const args of [['--foo'], ['positional'], ['--url'], ['--max-line', '-1'], ['--drain=1s']])
    refused(args)
  refused([], { CAUSEWAY_SESSION: 'with blank' })
  refused([], { CAUSEWAY_SESSION: 'x'.repeat(129) })
  refused([], { CAUSEWAY_MAX_LINE_BYTES: '10mb' })
})

t.test('readSettings: a refused URL never repeats its password', async (t) => {
  try {
    readSettings(['--url', 'http://user:secret@a/mcp'], {})
    t.fail('not refused')
  } catch (error) {
    t.notMatch(String(error), 'secret')
  }
})

t.test('readSettings: the other settings have defaults, environment and flags', async (t) => {
  t.match(readSettings([], {}), { debug: false, session: undefined, maxLine: 10_420_224, drainMs: 5000 })
  const env = { DEBUG: 'TRUE', CAUSEWAY_SESSION: 'me', CAUSEWAY_MAX_LINE_BYTES: '1', CAUSEWAY_DRAIN_MS: '2' }
  t.match(readSettings([], env), { debug: true, session: 'me', maxLine: 1, drainMs: 2 })
  t.match(readSettings(['--max-line', '3', '--drain', '4'], env), { maxLine: 3, drainMs: 4 })
  t.match(readSettings([], { DEBUG: 'app:*' }), { debug: false }, 'a DEBUG of another tool')
})

t.test('readSettings: help and version win over everything', async (t) => {
  t.equal(readSettings(['--help', '--url', 'x'], {}), 'help')
  t.equal(readSettings(['-v'], {}), 'version')
})
