import t from 'tap'
import { formatFinding, formatFindingTitle } from '../src/domain/diagnosis.ts'
import { completeTables, isInvisibleHtml, removeHeading, truncateExcerpt } from '../src/domain/excerpt.ts'
import { listSessions } from '../src/domain/trm.ts'
import { type Entry, findFrame, searchEntries } from '../src/views/palette/search.ts'

const create = (group: string, title: string, detail = ''): Entry => ({
  group,
  title,
  detail,
  url: `/${group}/${title}`,
})

const entries = [
  create('Pages', 'Overview'),
  create('Pages', 'Replay'),
  create('Tools', 'get_frame_of_replay', 'Replay'),
  create('Tools', 'get_frame', 'Replay'),
  create('Tools', 'reframe', 'Help'),
  create('Recordings', 'frame', 'frame.db'),
  create('Findings', 'Finding 13', 'joint drift, body 3'),
  create('Findings', 'Finding 3', 'energy injection'),
]

/** Returns the titles of the results by group. */
const search = (query: string, among: readonly Entry[] = entries) =>
  searchEntries(among, query).map(({ name, entries: found }) => [name, ...found.map(({ title }) => title)])

t.test('searchEntries requires every word in the title or the detail', async (t) => {
  t.same(search('replay get'), [['Tools', 'get_frame_of_replay', 'get_frame']])
  t.same(search('joint 3'), [['Findings', 'Finding 13']])
  t.same(search('get injection'), [])
  t.same(search('GET_fr'), [['Tools', 'get_frame', 'get_frame_of_replay']])
  t.same(search(' '), [['Pages', 'Overview', 'Replay']], 'returns the first group without a query')
  t.same(search('x', []), [])
  t.same(search('.*('), [], 'does not interpret a query as a pattern')
})

t.test('searchEntries ranks titles, whole words and beginnings first', async (t) => {
  t.same(search('frame'), [
    ['Recordings', 'frame'],
    ['Tools', 'get_frame', 'get_frame_of_replay', 'reframe'],
  ])
  t.same(search('replay')[0], ['Pages', 'Replay'])
  t.same(
    search('re').map(([name]) => name),
    ['Pages', 'Tools'],
    'prefers the first of equal groups',
  )
  t.same(search('finding 3'), [['Findings', 'Finding 3', 'Finding 13']])
})

t.test('searchEntries returns at most 12 results per group and 30 in total', async (t) => {
  const many = ['a', 'b', 'c', 'd'].flatMap((group) =>
    Array.from({ length: 1000 }, (_, index) => create(group, `run ${1000 + index}`)),
  )
  const found = searchEntries(many, 'run')
  t.same(
    found.map(({ entries }) => entries.length),
    [12, 12, 6],
  )
  const long = create('a', `${'x'.repeat(1_000_000)} end`)
  t.same(search('end', [long]), [], 'searches only the beginning of a long title')
  t.equal(search('xx', [long]).length, 1)
})

t.test('findFrame returns only frames of the recording', async (t) => {
  const range = { first: 1, last: 121 }
  for (const query of ['121', 'frame 121', ' Frame121 ']) t.equal(findFrame(query, range), 121, query)
  for (const query of ['', '0', '122', '-1', '1.5', 'frame', '12 1', '9'.repeat(30)])
    t.equal(findFrame(query, range), undefined, query)
  t.equal(findFrame('121', undefined), undefined)
})

t.test('listSessions returns only the sessions among the resources', async (t) => {
  t.same(
    listSessions([
      { uri: 'trm://sessions/s1', name: '/home/user/sums s1' },
      { uri: 'trm://sessions/s1/log', name: 'log' },
    ]),
    [{ id: 's1', project: 'sums' }],
  )
})

t.test('formatFinding returns the sentence of a finding without its frames', async (t) => {
  const finding = {
    ...{ id: 'f', frames: { first: 1, last: 2, peak: 2 }, bodies: [2], severity: 'error' as const },
    sentence: 'Frames 1 to 2: crate (old) gains energy (11.6 J, limit 0.0045 J). Record its forces.',
  }
  t.equal(formatFinding(finding), 'Crate (old) gains energy (11.6 J, limit 0.0045 J). Record its forces.')
  t.equal(formatFindingTitle(finding), 'Crate (old) gains energy')
})

t.test('an excerpt loses its first heading, and rows without a header become a table', async (t) => {
  t.equal(removeHeading('\n## `bodyLimit`\n\nThe limit.\n## Next'), 'The limit.\n## Next')
  t.equal(removeHeading('#include'), '#include')
  t.equal(truncateExcerpt('short text', 10), 'short text')
  t.equal(truncateExcerpt('the second word', 12), 'the second…')
  t.equal(truncateExcerpt('returns `{recording, count}`', 22), 'returns `{recording,`…')
  for (const length of [8, 13, 15, 20, 26])
    t.equal(truncateExcerpt('a plot ![Two positions](two.png) and more text', length), 'a plot…', `${length}`)
  t.equal(completeTables('| a | b |\n| c | d |\n\nend'), '|  |  |\n| - | - |\n| a | b |\n| c | d |\n\nend')
  const whole = '| h | i |\n| --- | :-: |\n| a | b |'
  t.equal(completeTables(whole), whole)
  for (const html of ['<a id="x"></a>', '<!-- a\n--> <br/>', '</a>']) t.ok(isInvisibleHtml(html), html)
  for (const html of ['<b>', '<a id="x">text</a>', '<!-- open', '<img src=x>', ''])
    t.notOk(isInvisibleHtml(html), html)
  t.notOk(isInvisibleHtml(`${'<!---->'.repeat(5000)}x`), 'takes linear time')
})
