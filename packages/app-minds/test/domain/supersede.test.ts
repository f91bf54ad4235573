import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { type Fact, supersedes } from '../../src/domain/supersede.ts'

const told = (content: string, sim_time = 0): Fact => ({ content: `Ben told me: ${content}`, sim_time })
const replaces = (newer: string, older: string): boolean => supersedes(told(newer, 10), told(older, 5))

/** Subjects of a town, what may be said of them in one way at a time, and the values. */
const subjects = [
  'The old bakery',
  'The north mill',
  'The coach from Varnow',
  'The coach from Lund',
  "Mara's brother",
]
const claims = ['opens at', 'leaves for Holm at', 'belongs since spring to', 'was seen near']
const values = ['8', '10', 'noon', 'Gustav', 'the harbour', 'the clock tower']
const corrections = ['Actually, ', 'Correction: ', 'Sorry, I was wrong. ', 'No, ']
const sentence = fc.record({
  subject: fc.constantFrom(...subjects),
  claim: fc.constantFrom(...claims),
  value: fc.constantFrom(...values),
})
const say = ({ subject, claim, value }: { subject: string; claim: string; value: string }): string =>
  `${subject} ${claim} ${value}.`

verifies(
  'minds:memory:newest',
  'a fact replaces none about something else, however alike the words',
  async (t) => {
    fc.assert(
      fc.property(sentence, sentence, fc.constantFrom('', ...corrections), (older, newer, words) => {
        fc.pre(older.subject !== newer.subject || older.claim !== newer.claim)
        return !replaces(`${words}${say(newer)}`, say(older))
      }),
    )
    for (const [newer, older] of [
      ["Mara's sister Ann lives in the mill.", "Mara's brother Tom lives in the mill."],
      ['The bakery in the harbour opens at 8.', 'The bakery on the hill opens at 8.'],
      ['Actually, the stone wall is repaired by Ottokar.', 'The stone bridge is repaired by Ottokar.'],
      ['Tom likes cheese.', 'Tom likes bread.'],
      ['Room 4 is to the left of the stairs.', 'Room 3 is to the left of the stairs.'],
      ['The mill belongs to Tom and to his sister.', 'The mill belongs to Tom.'],
    ] as const)
      t.notOk(replaces(newer, older), `${newer} beside ${older}`)
  },
)

verifies(
  'minds:memory:newest',
  'a correction replaces what it corrects, and never the other way round',
  async (t) => {
    fc.assert(
      fc.property(
        sentence,
        fc.constantFrom(...values),
        fc.constantFrom(...corrections),
        (older, value, words) => {
          fc.pre(value !== older.value)
          const newer = `${words}${say({ ...older, value })}`
          return replaces(newer, say(older)) && !supersedes(told(say(older), 5), told(newer, 10))
        },
      ),
    )
    t.ok(replaces('The bakery opens at 10.', 'The bakery opens at 8.'), 'a time replaces a time unannounced')
    t.ok(replaces('Tom lives at the harbour.', 'Tom lives at the mill.'), 'one lives in one place')
    t.ok(replaces('Hubert sold 27 sacks to the brewer.', 'Hubert sold 14 sacks to the brewer.'))
  },
)

t.test('supersedes: nothing replaces itself, and of one moment the later word counts', async (t) => {
  fc.assert(fc.property(sentence, (one) => !replaces(say(one), say(one))))
  const [first, second] = [told('The bakery opens at 8.'), told('The bakery opens at 10.')]
  t.ok(supersedes({ ...second, order: 2 }, { ...first, order: 1 }))
  t.notOk(supersedes({ ...first, order: 1 }, { ...second, order: 2 }))
})
