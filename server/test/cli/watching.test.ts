import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { replaceFile } from '../../src/cli/replace-file.ts'
import { progressLine } from '../../src/cli/watching.ts'

t.test('progressLine: one line that is written over, on a terminal alone', async (t) => {
  const written: string[] = []
  const terminal = { isTTY: true, columns: 20, write: (text: string) => written.push(text) > 0 }
  const line = progressLine(terminal as unknown as NodeJS.WriteStream)
  line.end()
  t.same(written, [], 'nothing to take away')
  line.show?.(1000, 2000, 'a/very/long/path/of/a/file.db')
  line.end()
  line.end()
  t.same(written, ['\r\x1b[K1.0 kB of 2.0 kB', '\r\x1b[K'])
  t.equal(progressLine({ isTTY: false } as NodeJS.WriteStream).show, undefined)
})

verifies('command:init:careful', 'a file that another program changes meanwhile is left to it', async (t) => {
  const dir = t.testdir({ 'a.json': 'old' })
  const path = join(dir, 'a.json')
  writeFileSync(path, 'newer')
  t.throws(() => replaceFile(path, { text: 'ours', before: 'old' }), { code: 'CLIENT_FILE_REFUSED' })
  t.throws(() => replaceFile(path, { text: 'ours', before: undefined }), { code: 'CLIENT_FILE_REFUSED' })
  t.same(t.testdirName, dir)
})
