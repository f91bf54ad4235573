import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { LineSplitter, onOneLine } from '../src/lines.ts'

/** The lines of a text that arrives in pieces of this many bytes. */
function split(text: string | Buffer, pieceBytes: number): string[] {
  const bytes = Buffer.from(text)
  const splitter = new LineSplitter()
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    lines.push(...splitter.push(bytes.subarray(at, at + pieceBytes)))
  return [...lines, ...splitter.end()].map(String)
}

verifies('bridge:lines:framing', 'LineSplitter: every chunking gives the same lines', async (t) => {
  const text = '{"a":"é漢😀"}\r\n\n  \r\n{"b":1}\n{"c":2}'
  for (const size of [1, 2, 3, 5, 8, 100]) t.same(split(text, size), ['{"a":"é漢😀"}', '{"b":1}', '{"c":2}'])
})

t.test('LineSplitter: an end with nothing pending is no line', async (t) => {
  t.same(split('1\n', 1), ['1'])
  t.same(split('', 1), [])
})

t.test('LineSplitter: a line of 12 MB in small chunks comes whole', async (t) => {
  const [line, ...others] = split(`"${'x'.repeat(12_000_000)}"\n`, 65_536)
  t.equal(line?.length, 12_000_002)
  t.same(others, [])
})

verifies(
  'bridge:lines:stdout',
  'onOneLine: a pretty-printed text becomes one line of the same value',
  async (t) => {
    const value = { text: 'line\nend\r\n', list: [1, { a: null }] }
    for (const pretty of [
      JSON.stringify(value, null, 2),
      JSON.stringify(value, null, 2).replace(/\n/g, '\r\n'),
    ]) {
      const line = onOneLine(Buffer.from(pretty)).toString()
      t.notMatch(line, /[\r\n]/)
      t.same(JSON.parse(line), value)
    }
  },
)
