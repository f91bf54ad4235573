import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { finite, replaceNonFinite } from '../src/result.ts'
import { makeRoots } from '../src/roots.ts'
import { dayStart, formatTime, parseTime } from '../src/time.ts'
import { uriTemplate } from '../src/uri-template.ts'

t.test('replaceNonFinite replaces NaN and infinities with null at any depth', async (t) => {
  const data = {
    a: Number.NaN,
    b: [1, Number.POSITIVE_INFINITY, { c: Number.NEGATIVE_INFINITY }],
    d: 'x',
    e: null,
  }
  t.same(replaceNonFinite(data), { a: null, b: [1, null, { c: null }], d: 'x', e: null })
  t.ok(Number.isNaN(data.a), 'the original is unchanged')
})

t.test('replaceNonFinite returns data without NaN and infinities unchanged', async (t) => {
  const data = { a: [1, 2, { b: 'x' }] }
  t.equal(replaceNonFinite(data), data)
  t.equal(finite, replaceNonFinite, 'deprecated name')
})

verifies('toolvault:time:utc', async (t) => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  process.env.TZ = 'Asia/Tokyo'
  t.equal(new Date('2024-01-01T00:00:00').getTime(), Date.UTC(2023, 11, 31, 15), 'the time zone is set')
  t.equal(parseTime('2024-01-01T00:00:00'), Date.UTC(2024, 0, 1))
  t.equal(parseTime('2024-01-01 00:00'), Date.UTC(2024, 0, 1))
})

t.test('the fast path of parseTime returns the same times as the general parser', async (t) => {
  const plain = fc.tuple(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
    fc.boolean(),
    fc.option(fc.tuple(fc.nat(23), fc.constantFrom('0', '9', ':', '-', 'T', 'Z', ' ', 'x', '+'))),
  )
  fc.assert(
    fc.property(plain, ([date, isShort, change]) => {
      const written = date.toISOString()
      const text = isShort ? written.replace(/\.\d+/, '') : written
      const one = change === null ? text : text.slice(0, change[0]) + change[1] + text.slice(change[0] + 1)
      // A leading space selects the general parser.
      return Object.is(parseTime(one), parseTime(` ${one}`))
    }),
    { numRuns: 3000 },
  )
  t.equal(parseTime('x024-01-01T00:00:00Z'), undefined)
})

t.test('parseTime accepts offsets, fractions and short forms, and rejects malformed times', async (t) => {
  t.equal(parseTime('2024-01-01T09:00:00+09:00'), Date.UTC(2024, 0, 1))
  t.equal(parseTime('2024-01-01T09:00:00.5+0930'), Date.UTC(2023, 11, 31, 23, 30, 0, 500))
  t.equal(parseTime('2024-11-14T21:16Z'), Date.UTC(2024, 10, 14, 21, 16))
  t.equal(parseTime('2024-01-01'), Date.UTC(2024, 0, 1))
  t.equal(formatTime(parseTime('2024-11-14T21:16:53.661999Z') ?? 0), '2024-11-14T21:16:53.661999Z')
  for (const wrong of [
    '',
    'yesterday',
    '2024-02-30T00:00:00Z',
    '2023-02-29',
    '2024-13-01',
    '2024-01-01T25:00',
    '2024-01-01T24:01',
    '2024-01-01T12:61',
    '2024-01-01T12:00+24:00',
    'now',
    '20241114',
    5,
  ])
    t.equal(parseTime(wrong), undefined, String(wrong))
  t.equal(dayStart(1900, 2, 29), undefined)
  t.equal(dayStart(2000, 2, 29), Date.UTC(2000, 1, 29))
})

t.test('formatTime agrees with Date and is the inverse of parseTime', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(0, 0, 1) - 1, max: Date.UTC(9999, 11, 31) }), (ms) => {
      t.equal(new Date(formatTime(ms)).getTime(), ms)
      t.equal(parseTime(formatTime(ms)), ms)
    }),
    { numRuns: 300 },
  )
})

const frame = uriTemplate('replay://recordings/{recording}/frames/{frame_id}')

verifies('wire:resource:template', async (t) => {
  t.same(frame.match('replay://recordings/a%20b%2Fc/frames/7'), { recording: 'a b/c', frame_id: '7' })
  for (const uri of [
    'replay://recordings/a/b/frames/7',
    'replay://recordings//frames/7',
    'replay://recordings/a/frames/7/x',
    'xreplay://recordings/a/frames/7',
    'replay://recordings/%zz/frames/7',
    'replay://recordings/a?b/frames/7',
  ])
    t.equal(frame.match(uri), undefined, uri)
})

t.test('a URI template matches characters outside its variables literally', async (t) => {
  const dotted = uriTemplate('help://llms.txt')
  t.same(dotted.match('help://llms.txt'), {})
  t.equal(dotted.match('help://llmsxtxt'), undefined)
  t.throws(() => uriTemplate('/no/scheme'), { code: 'INVALID_APP' })
})

t.test('a template does not match a URI of more than 8,192 characters', async (t) => {
  const template = uriTemplate('demo://things/{id}')
  const id = 'x'.repeat(8192 - 'demo://things/'.length)
  t.same(template.match(`demo://things/${id}`), { id })
  t.equal(template.match(`demo://things/${id}x`), undefined)
})

t.test('roots resolve absolute and relative paths under every root', async (t) => {
  const dir = t.testdir({ one: { 'a.db': '' }, two: { sub: { 'b.db': '' } }, 'c.db': '' })
  const roots = makeRoots(() => [join(dir, 'one'), join(dir, 'two')], 'CAUSEWAY_ROOTS')
  t.equal(await roots.resolve(join(dir, 'one/a.db')), join(dir, 'one/a.db'))
  t.equal(await roots.resolve('sub/b.db'), join(dir, 'two/sub/b.db'))
  t.equal(await roots.resolve(join(dir, 'two')), join(dir, 'two'), 'a root itself')
})

t.test('roots reject paths outside their folders, whether or not the file exists', async (t) => {
  const dir = t.testdir({ one: {}, 'one-more': { 'a.db': '' }, 'c.db': '' })
  const roots = makeRoots(() => [join(dir, 'one')], 'CAUSEWAY_RECORDING_ROOTS')
  for (const path of [
    join(dir, 'c.db'),
    join(dir, 'gone.db'),
    '../c.db',
    '../gone.db',
    join(dir, 'one-more/a.db'),
    '/',
  ])
    await t.rejects(
      roots.resolve(path),
      {
        code: 'OUTSIDE_ROOTS',
        data: { path, setting: 'CAUSEWAY_RECORDING_ROOTS' },
        remedy: /CAUSEWAY_RECORDING_ROOTS/,
      },
      path,
    )
})

t.test('roots report an impossible file name as missing inside and as forbidden outside', async (t) => {
  const dir = t.testdir({ one: {} })
  const roots = makeRoots(() => [join(dir, 'one')], 'CAUSEWAY_ROOTS')
  for (const name of ['x'.repeat(5000), 'é'.repeat(300), 'a\u0000b', `${'d/'.repeat(3000)}a`]) {
    await t.rejects(roots.resolve(name), { code: 'FILE_NOT_FOUND' })
    await t.rejects(roots.resolve(`../${name}`), { code: 'OUTSIDE_ROOTS' })
  }
})

t.test('the error of a missing file lists the searched paths', async (t) => {
  const dir = t.testdir({ one: {}, two: {} })
  const roots = makeRoots(() => [join(dir, 'one'), join(dir, 'two')], 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve('a.db'), {
    code: 'FILE_NOT_FOUND',
    data: { searched: [join(dir, 'one/a.db'), join(dir, 'two/a.db')] },
  })
})

t.test('roots follow links inside and reject links to the outside', async (t) => {
  const dir = t.testdir({ root: { 'a.db': '' }, 'secret.db': '' })
  symlinkSync(join(dir, 'secret.db'), join(dir, 'root/out.db'))
  symlinkSync(join(dir, 'root/a.db'), join(dir, 'root/in.db'))
  symlinkSync(join(dir, 'root'), join(dir, 'link'))
  const roots = makeRoots(() => [join(dir, 'root')], 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve('out.db'), { code: 'OUTSIDE_ROOTS' })
  t.equal(await roots.resolve('in.db'), join(dir, 'root/a.db'))
  const linked = makeRoots(() => [join(dir, 'link')], 'CAUSEWAY_ROOTS')
  t.equal(await linked.resolve('a.db'), join(dir, 'root/a.db'), 'a root may be a link')
  await t.rejects(linked.resolve('gone.db'), { code: 'FILE_NOT_FOUND' })
})

t.test('roots accept an added folder immediately', async (t) => {
  const dir = t.testdir({ one: {}, two: { 'a.db': '' } })
  const folders = [join(dir, 'one')]
  const roots = makeRoots(() => folders, 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve(join(dir, 'two/a.db')), { code: 'OUTSIDE_ROOTS' })
  folders.push(join(dir, 'two'))
  t.equal(await roots.resolve(join(dir, 'two/a.db')), join(dir, 'two/a.db'))
})
