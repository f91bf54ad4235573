import t from 'tap'
import { conclude, type Experience } from '../../src/domain/reflect.ts'

const experience = (id: string, change: Partial<Experience>): Experience => ({
  id,
  content: id,
  importance: 5,
  kind: 'episodic',
  subject: null,
  tags: [],
  sim_time: 0,
  times: 1,
  is_superseded: false,
  ...change,
})
const day = 1440
const critical = (id: string, sim_time: number): Experience =>
  experience(id, {
    sim_time,
    subject: 'hunger',
    tags: ['critical'],
    content: `My hunger became critical (${id} %).`,
  })
const told = (id: string, change: Partial<Experience> = {}): Experience =>
  experience(id, {
    kind: 'fact',
    subject: 'npc_ann',
    tags: ['told'],
    content: `Old Ann told me: ${id}.`,
    ...change,
  })

t.test('conclude: twice is chance, three times is a habit', async (t) => {
  const [one, two, three] = [critical('a', 0), critical('b', day), critical('c', 2 * day)]
  t.same(conclude([one, two]), [])
  t.match(conclude([one, two, three]), [
    {
      about: 'critical|hunger',
      content: 'My hunger has become critical 3 times, mostly at night.',
      importance: 7,
      subject: 'hunger',
      evidence: ['a', 'b', 'c'],
      sim_time: 2 * day,
    },
  ])
})

t.test('conclude: the part of the day is named where most of the times fall into it', async (t) => {
  const at = (...hours: readonly number[]): string =>
    conclude(hours.map((hour, n) => critical(`m${n}`, n * day + hour * 60)))[0]?.content ?? ''
  t.match(at(6, 7, 11.9), /mostly in the morning\.$/)
  t.match(at(12, 13, 20), /mostly in the afternoon\.$/)
  t.match(at(18, 23.9, 20, 3), /mostly in the evening\.$/)
  t.equal(at(1, 7, 13, 19), 'My hunger has become critical 4 times.')
  t.equal(at(1, 1, 13, 13), 'My hunger has become critical 4 times.', 'half is not most')
})

t.test('conclude: memories that say the same have joined, and count as often as they were had', async (t) => {
  const refused = experience('r', {
    subject: 'stove_2',
    tags: ['refusal', 'eat'],
    content: 'stove_2 refused eat: it is busy.',
    times: 4,
    sim_time: null,
  })
  t.match(conclude([refused]), [
    { about: 'refusal|stove_2|eat', content: 'stove_2 has refused eat 4 times.', evidence: ['r'] },
  ])
  const bed = { ...refused, id: 's', tags: ['refusal', 'sleep'], times: 2 }
  t.equal(conclude([refused, bed]).length, 1, 'another thing refused is another matter')
})

t.test('conclude: who has told much, and how much of it turned out otherwise', async (t) => {
  t.match(conclude(['a', 'b', 'c'].map((id) => told(id))), [
    { content: 'Old Ann has told me 3 things.', importance: 4, subject: 'npc_ann' },
  ])
  t.match(conclude([told('a'), told('b', { is_superseded: true }), told('c')]), [
    { content: 'Old Ann has told me 3 things; 1 of them turned out otherwise.', importance: 6 },
  ])
})

t.test('conclude: what a model remembers in much the same words is one matter', async (t) => {
  const remembered = [
    'The wolf came to the fold again.',
    'A wolf came to the fold.',
    'Wolf at the fold: it came.',
  ]
  const wolves = remembered.map((content, n) => experience(`w${n}`, { content, sim_time: n, importance: 8 }))
  const other = experience('x', { content: 'I found a coin in the well.' })
  t.match(conclude([other, ...wolves]), [
    {
      content: 'It was much the same 3 times: Wolf at the fold: it came.',
      importance: 9,
      evidence: ['w0', 'w1', 'w2'],
    },
  ])
})

t.test('conclude: the same experiences in another order give the same', async (t) => {
  const all = [critical('a', 5), told('b'), critical('c', 3), told('d'), critical('e', 9), told('f')]
  t.same(conclude([...all].reverse()), conclude(all))
  t.equal(conclude(all).length, 2)
})

t.test('conclude: what is had once of each thing is nothing to conclude from', async (t) => {
  const seen = [1, 2, 3].map((n) =>
    experience(`s${n}`, { tags: ['sighting'], subject: `well_${n}`, content: 'I saw a well.' }),
  )
  t.same(conclude(seen), [])
  t.same(conclude([]), [])
})
