import t from 'tap'
import { findUploadType, toPercent, toRecordingName } from '../src/domain/upload.ts'

t.test('toRecordingName returns a name that the server accepts', async (t) => {
  t.equal(toRecordingName('run.jsonl'), 'run')
  t.equal(toRecordingName('my run (2).v1.ndjson'), 'my-run-2-.v1')
  t.equal(toRecordingName('.jsonl'), 'recording')
  t.equal(toRecordingName('日本.jsonl'), 'recording')
  t.equal(toRecordingName(`${'a'.repeat(63)} b.jsonl`), 'a'.repeat(63))
  for (const name of ['a b', '..', '---', 'é', 'x'.repeat(200)])
    t.match(toRecordingName(name), /^[A-Za-z0-9._-]{1,64}$/)
})

t.test('findUploadType accepts JSON lines, MCAP and SQLite, and rejects other formats by name', async (t) => {
  const find = (head: string) => findUploadType(Buffer.from(head, 'latin1'), ['/a', '/b'])
  t.equal(find('{"run": {}}\n'), 'application/x-ndjson')
  t.equal(find('\n  {"frame_id": 1}'), 'application/x-ndjson')
  t.equal(find('SQLite format 3\0...'), 'application/vnd.sqlite3')
  t.equal(find('\x89MCAP0\r\n...'), 'application/x-mcap')
  t.match(find(''), { code: 'NOT_A_RECORDING', message: 'the file is empty' })
  t.match(find('PAR1'), { message: /Parquet/, remedy: /\/a, \/b$/ })
  t.match(find('time,x,y'), { message: /not JSON lines, MCAP or SQLite/, remedy: /\/a, \/b$/ })
})

t.test('toPercent returns 100 only at the end', async (t) => {
  t.same([toPercent(0, 3), toPercent(999, 1000), toPercent(3, 3), toPercent(0, 0)], [0, 99, 100, 100])
})
