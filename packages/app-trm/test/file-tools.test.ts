import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { openTrm } from './trm-kit.ts'

const long = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1} ${'x'.repeat(40)}`).join('\n')

verifies('trm:read:files', async (t) => {
  const { client, root } = await openTrm(t, {
    files: { 'p/a.txt': 'a\nb\n', 'p/long.txt': long, 'p/empty': '' },
  })
  writeFileSync(join(root, 'p', 'bytes.bin'), Buffer.from([0, 1, 255]))
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const { files } = await ask('read', { paths: ['a.txt', 'missing', 'bytes.bin', 'empty'] })
  t.match(files['a.txt'], {
    content: 'a\nb\n',
    sha: /^[0-9a-f]{64}$/,
    metadata: { lineCount: 2, sizeBytes: 4, lastModified: /^20\d\d-.*Z$/ },
  })
  t.match(files.missing, { code: 'FILE_NOT_FOUND', error: /missing/ })
  t.match(files['bytes.bin'], { content: null, isBinary: true })
  t.match(files.empty, { content: '', metadata: { lineCount: 0 } })
  const part = (await ask('read', { paths: ['a.txt'], offset: 2, limit: 1 })).files['a.txt']
  t.match(part, { content: 'b\n', metadata: { lineCount: 2 } })
  const first = (await ask('read', { paths: ['long.txt'] })).files['long.txt']
  t.match(first, { truncated: true, metadata: { lineCount: 100_000, sizeBytes: long.length } })
  t.ok(first.content.length <= 81_000)
  const next = (await ask('read', { paths: ['long.txt'], offset: first.nextOffset, limit: 1 })).files[
    'long.txt'
  ]
  t.match(next.content, new RegExp(`^line ${first.nextOffset} `))
  const many = Array.from({ length: 51 }, (_, index) => `f${index}`)
  await t.rejects(ask('read', { paths: many }), { code: 'TOO_MANY_PATHS' })
})

verifies('trm:read:files', 'nothing outside of the project is read', async (t) => {
  const { client, root } = await openTrm(t, { files: { 'p/a.txt': 'a', 'other/secret.txt': 'secret' } })
  symlinkSync(join(root, 'other'), join(root, 'p', 'link'))
  symlinkSync('/etc/hostname', join(root, 'p', 'name'))
  mkdirSync(join(root, 'p', '.git'))
  writeFileSync(join(root, 'p', '.git', 'config'), 'secret')
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const paths = [
    '../other/secret.txt',
    join(root, 'other/secret.txt'),
    'link/secret.txt',
    'name',
    '.git/config',
    '.GIT/config',
  ]
  const { files } = await ask('read', { paths })
  for (const path of paths) t.match(files[path], { code: 'INVALID_PATH', content: undefined }, path)
  for (const path of paths) {
    await t.rejects(ask('lines', { file: path, start: 1, end: 1 }), { code: 'INVALID_PATH' }, path)
    const candidate = { mode: 'files', files: [{ path, content: 'x' }] }
    await t.rejects(ask('submit', { candidate }), { code: 'INVALID_PATH' }, path)
  }
})

verifies('trm:lines:range', async (t) => {
  const text = Array.from({ length: 10 }, (_, index) => `row ${index + 1}`).join('\r\n')
  const { client } = await openTrm(t, { files: { 'p/a.txt': text } })
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const lines = (start: number, end: number) => ask('lines', { file: 'a.txt', start, end })
  t.match(await lines(5, 7), { file: 'a.txt', lines: ['5: row 5', '6: row 6', '7: row 7'], lineCount: 10 })
  t.same((await lines(9, 99)).lines, ['9: row 9', '10: row 10'])
  t.same((await ask('lines', { file: 'a.txt', start_line: 1, end_line: 1 })).lines, ['1: row 1'])
  await t.rejects(lines(0, 3), { code: 'INVALID_LINE' })
  await t.rejects(lines(4, 3), { code: 'INVALID_RANGE' })
  await t.rejects(lines(11, 12), { code: 'LINE_BEYOND_END', data: { line_count: 10 } })
  await t.rejects(ask('lines', { file: 'b.txt', start: 1, end: 1 }), { code: 'FILE_NOT_FOUND' })
})
