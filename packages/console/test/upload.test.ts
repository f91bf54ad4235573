import t from 'tap'
import { readSlices } from '../src/data/upload.ts'
import { findRefusal, maxLineBytes, toPercent, toRecordingName } from '../src/domain/upload.ts'

t.test('toRecordingName returns a name that the server accepts', async (t) => {
  t.equal(toRecordingName('run.jsonl'), 'run')
  t.equal(toRecordingName('my run (2).v1.ndjson'), 'my-run-2-.v1')
  t.equal(toRecordingName('.jsonl'), 'recording')
  t.equal(toRecordingName('日本.jsonl'), 'recording')
  t.equal(toRecordingName(`${'a'.repeat(63)} b.jsonl`), 'a'.repeat(63))
  for (const name of ['a b', '..', '---', 'é', 'x'.repeat(200)])
    t.match(toRecordingName(name), /^[A-Za-z0-9._-]{1,64}$/)
})

t.test('findRefusal accepts JSON lines and names other formats', async (t) => {
  const find = (head: string) => findRefusal(Buffer.from(head, 'latin1'), ['/a', '/b'])
  t.equal(find('{"run": {}}\n'), undefined)
  t.equal(find('\n  {"frame_id": 1}'), undefined)
  t.match(find(''), { code: 'NOT_A_RECORDING', message: 'the file is empty' })
  t.match(find('SQLite format 3\0...'), { message: /SQLite/, remedy: /\/a, \/b$/ })
  t.match(find('\x89MCAP0\r\n...'), { message: /MCAP/ })
  t.match(find('time,x,y'), { message: /does not contain frames/, remedy: /\/a, \/b$/ })
})

t.test('toPercent is 100 only at the end', async (t) => {
  t.same([toPercent(0, 3), toPercent(999, 1000), toPercent(3, 3), toPercent(0, 0)], [0, 99, 100, 100])
})

/** Returns the texts of the slices. */
const slice = async (text: string, bytes: number): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const part of readSlices(new Blob([text]), bytes)) found.push(await part.text())
  return found
}

t.test('readSlices returns whole lines', async (t) => {
  t.same(await slice('aa\nbb\ncc\n', 6), ['aa\nbb\n', 'cc\n'])
  t.same(await slice('aa\nbb\ncc', 7), ['aa\nbb\n', 'cc'], 'a last line without a line feed')
  t.same(await slice('a\nlong line\nb', 4), ['a\n', 'long line\n', 'b'], 'a line longer than a slice')
  t.same(await slice('ä\nöü\n', 4), ['ä\n', 'öü\n'])
  t.same(await slice('', 4), [])
  const text = Array.from({ length: 500 }, (_, at) => 'x'.repeat(at % 37)).join('\n')
  for (const bytes of [1, 7, 64, 1000]) {
    const parts = await slice(text, bytes)
    t.equal(parts.join(''), text)
    t.ok(parts.slice(0, -1).every((part) => part.endsWith('\n')))
  }
})

t.test('readSlices rejects a line that the server does not accept', async (t) => {
  const read = async (): Promise<void> => {
    for await (const part of readSlices(new Blob(['x'.repeat(maxLineBytes * 2), '\n']), 1024 ** 2)) part.size
  }
  await t.rejects(read(), { code: 'NOT_A_RECORDING' })
})
