// cspell:ignore told -- part of stored memories
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { mergeMessages, type StoredMessage } from '../../src/domain/conversation.ts'
import { judgeAnswer } from '../../src/domain/judge-answer.ts'
import type { Message } from '../../src/domain/observation.ts'
import { parseQuestion } from '../../src/domain/question.ts'
import { drawConclusions, type Experience } from '../../src/domain/reflect.ts'
import { type Fact, supersedes } from '../../src/domain/supersede.ts'
import { WordRelations } from '../../src/domain/word-relations.ts'
import { RelationsFile } from '../../src/memory/relations-file.ts'
import { getRelations, parseRelations } from '../minds-kit.ts'

// Loaded before the first test, because tap ignores tests that are added after the others have ended.
const relations = await new RelationsFile().get()

const window = 5
const message = (timestamped: boolean) =>
  fc.record({
    speaker_id: fc.constantFrom('a', 'b'),
    speaker_name: fc.constant('x'),
    message: fc.constantFrom('ok', 'yes', 'no', 'well'),
    timestamp: timestamped ? fc.integer({ min: 0, max: 5 }) : fc.constant(null),
    is_system: fc.constant(false),
  })
const inOrder = (messages: readonly Message[]): Message[] =>
  [...messages].sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))
const messageKey = ({ timestamp, speaker_id, message }: Message): string =>
  `${timestamp} ${speaker_id} ${message}`
const words = (messages: readonly Message[]) =>
  messages.map(({ speaker_id, message }) => `${speaker_id}:${message}`)

/** Slides the game's window over a transcript by these steps and returns the stored messages. */
function slide(transcript: readonly Message[], steps: readonly number[]): readonly StoredMessage[] {
  let kept: readonly StoredMessage[] = []
  let end = 0
  for (const step of [...steps, transcript.length]) {
    end = Math.min(transcript.length, Math.max(end, end + step))
    kept = mergeMessages(kept, transcript.slice(Math.max(0, end - window), end), window).messages
    if (end === transcript.length) break
  }
  return kept
}

verifies(
  'minds:conversation:merge',
  'mergeMessages retains every message of a window that slides by at most its length',
  async (t) => {
    const stepped = (most: number) =>
      fc.array(fc.integer({ min: 1, max: most }), { minLength: 60, maxLength: 60 })
    const isWhole = (transcript: readonly Message[], steps: readonly number[]): boolean =>
      words(slide(transcript, steps)).sort().join() === words(transcript).sort().join()
    const once = fc.uniqueArray(message(true), { maxLength: 40, selector: messageKey }).map(inOrder)
    fc.assert(fc.property(once, stepped(window), isWhole))
    // A message that occurs twice in one window counts twice.
    const twice = once.map((transcript) =>
      transcript.flatMap((one) => (one.message === 'ok' ? [one, one] : [one])),
    )
    fc.assert(fc.property(twice, stepped(window - 1), isWhole))
    const distinct = fc
      .array(message(false), { maxLength: 40 })
      .map((messages) => messages.map((one, index) => ({ ...one, message: `${one.message} ${index}` })))
    fc.assert(
      fc.property(
        distinct,
        stepped(window - 1),
        (transcript, steps) => words(slide(transcript, steps)).join() === words(transcript).join(),
      ),
    )
    t.pass('held for random transcripts')
  },
)

verifies('minds:conversation:merge', 'mergeMessages ignores a repeated window', async (t) => {
  for (const timestamped of [true, false])
    fc.assert(
      fc.property(fc.array(message(timestamped), { maxLength: window }), (incoming) => {
        const { messages } = mergeMessages([], incoming, window)
        const again = mergeMessages(messages, incoming, window)
        return again.addedMessages.length === 0 && words(again.messages).join() === words(messages).join()
      }),
    )
  t.pass('held for random windows')
})

verifies(
  'minds:conversation:merge',
  'mergeMessages stores repeated messages and marks a gap after a missed window',
  async (t) => {
    const say = (text: string, timestamp: number | null = null): Message => ({
      speaker_id: 'a',
      speaker_name: 'A',
      message: text,
      timestamp,
      is_system: false,
    })
    const first = mergeMessages([], [say('ok'), say('ok')])
    t.same(words(first.messages), ['a:ok', 'a:ok'])
    t.same(words(mergeMessages(first.messages, [say('ok'), say('ok'), say('ok')]).messages), [
      'a:ok',
      'a:ok',
      'a:ok',
    ])
    const lost = mergeMessages(
      first.messages,
      ['1', '2', '3', '4', '5'].map((text) => say(text)),
    )
    t.same(
      lost.addedMessages.map(({ gap }) => gap),
      [true, false, false, false, false],
    )
    t.same(
      mergeMessages([], [say('x', 2), say('y', 1.5)]).messages.map(({ message }) => message),
      ['y', 'x'],
    )
  },
)

const experience = (id: string, change: Partial<Experience>): Experience => ({
  id,
  content: id,
  importance: 5,
  kind: 'episodic',
  subject: null,
  tags: [],
  sim_time: 0,
  occurrences: 1,
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
const makeFact = (id: string, change: Partial<Experience> = {}): Experience =>
  experience(id, {
    kind: 'fact',
    subject: 'npc_ann',
    tags: ['told'],
    content: `Old Ann told me: ${id}.`,
    ...change,
  })

t.test('drawConclusions draws a conclusion from three occurrences, but not from two', async (t) => {
  const [one, two, three] = [critical('a', 0), critical('b', day), critical('c', 2 * day)]
  t.same(drawConclusions([one, two]), [])
  t.match(drawConclusions([one, two, three]), [
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

t.test('drawConclusions names a part of the day with a clear majority of occurrences', async (t) => {
  const at = (...hours: readonly number[]): string =>
    drawConclusions(hours.map((hour, n) => critical(`m${n}`, n * day + hour * 60)))[0]?.content ?? ''
  t.match(at(6, 7, 11.9), /mostly in the morning\.$/)
  t.match(at(12, 13, 20), /mostly in the afternoon\.$/)
  t.match(at(18, 23.9, 20, 3), /mostly in the evening\.$/)
  t.equal(at(1, 7, 13, 19), 'My hunger has become critical 4 times.')
  t.equal(
    at(1, 1, 13, 13),
    'My hunger has become critical 4 times.',
    'omits a part of the day with half of the occurrences',
  )
})

t.test('drawConclusions counts merged memories by their occurrences', async (t) => {
  const refused = experience('r', {
    subject: 'stove_2',
    tags: ['refusal', 'eat'],
    content: 'stove_2 refused eat: it is busy.',
    occurrences: 4,
    sim_time: null,
  })
  t.match(drawConclusions([refused]), [
    { about: 'refusal|stove_2|eat', content: 'stove_2 has refused eat 4 times.', evidence: ['r'] },
  ])
  const bed = { ...refused, id: 's', tags: ['refusal', 'sleep'], occurrences: 2 }
  t.equal(drawConclusions([refused, bed]).length, 1, 'separates different interactions')
})

t.test('drawConclusions counts the superseded facts of a speaker', async (t) => {
  t.match(drawConclusions(['a', 'b', 'c'].map((id) => makeFact(id))), [
    { content: 'Old Ann has told me 3 things.', importance: 4, subject: 'npc_ann' },
  ])
  t.match(drawConclusions([makeFact('a'), makeFact('b', { is_superseded: true }), makeFact('c')]), [
    { content: 'Old Ann has told me 3 things; 1 of them turned out otherwise.', importance: 6 },
  ])
})

t.test('drawConclusions groups memories with similar words', async (t) => {
  const remembered = [
    'The wolf came to the fold again.',
    'A wolf came to the fold.',
    'Wolf at the fold: it came.',
  ]
  const wolves = remembered.map((content, n) => experience(`w${n}`, { content, sim_time: n, importance: 8 }))
  const other = experience('x', { content: 'I found a coin in the well.' })
  t.match(drawConclusions([other, ...wolves]), [
    {
      content: 'It was much the same 3 times: Wolf at the fold: it came.',
      importance: 9,
      evidence: ['w0', 'w1', 'w2'],
    },
  ])
})

t.test('drawConclusions does not depend on the order of experiences', async (t) => {
  const all = [
    critical('a', 5),
    makeFact('b'),
    critical('c', 3),
    makeFact('d'),
    critical('e', 9),
    makeFact('f'),
  ]
  t.same(drawConclusions([...all].reverse()), drawConclusions(all))
  t.equal(drawConclusions(all).length, 2)
})

t.test('drawConclusions ignores sightings', async (t) => {
  const seen = [1, 2, 3].map((n) =>
    experience(`s${n}`, { tags: ['sighting'], subject: `well_${n}`, content: 'I saw a well.' }),
  )
  t.same(drawConclusions(seen), [])
  t.same(drawConclusions([]), [])
})

const supersedeStatement = (content: string, sim_time = 0): Fact => ({
  content: `Ben told me: ${content}`,
  sim_time,
})
const replaces = (newer: string, older: string): boolean =>
  supersedes(supersedeStatement(newer, 10), supersedeStatement(older, 5))

/** Subjects, verbs that allow a single value at a time, and values. */
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

verifies('minds:memory:newest', 'a fact does not replace a similar fact about another subject', async (t) => {
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
    t.notOk(replaces(newer, older), `${newer} does not replace ${older}`)
})

verifies('minds:memory:newest', 'a correction replaces the earlier value of a fact', async (t) => {
  fc.assert(
    fc.property(
      sentence,
      fc.constantFrom(...values),
      fc.constantFrom(...corrections),
      (older, value, words) => {
        fc.pre(value !== older.value)
        const newer = `${words}${say({ ...older, value })}`
        return (
          replaces(newer, say(older)) &&
          !supersedes(supersedeStatement(say(older), 5), supersedeStatement(newer, 10))
        )
      },
    ),
  )
  t.ok(
    replaces('The bakery opens at 10.', 'The bakery opens at 8.'),
    'a new time replaces the old one without an announced correction',
  )
  t.ok(
    replaces('Tom lives at the harbour.', 'Tom lives at the mill.'),
    'a new residence replaces the old one',
  )
  t.ok(replaces('Hubert sold 27 sacks to the brewer.', 'Hubert sold 14 sacks to the brewer.'))
})

t.test('supersedes uses `order` for facts of the same time', async (t) => {
  fc.assert(fc.property(sentence, (one) => !replaces(say(one), say(one))))
  const [first, second] = [
    supersedeStatement('The bakery opens at 8.'),
    supersedeStatement('The bakery opens at 10.'),
  ]
  t.ok(supersedes({ ...second, order: 2 }, { ...first, order: 1 }))
  t.notOk(supersedes({ ...first, order: 1 }, { ...second, order: 2 }))
})

/** Animal, dog (a kind), hound (the same), poodle (a kind), cat; bark (related to dog), hide, conceal; irregular forms. */
const small = [
  ['animal\t\t\t', 'dog hound\t0\t\tbark', 'poodle\t1\t\tcurly', 'cat\t0\t\tpurr', 'bark\t\t\t'].join('\n'),
  ['hide conceal\t\t\t', 'canine\t\t1\t'].join('\n'),
  ['hid hide', 'mice mouse'].join('\n'),
].join('\n\n')

const judge = (question: string, claim: string): number =>
  judgeAnswer(
    parseQuestion(question, 8000),
    { content: `Ben told me: ${claim}`, sim_time: 5000 },
    { minSupport: 0.6, relations },
  )

verifies(
  'minds:memory:relations',
  'WordRelations matches by meanings, broader meanings, related meanings and definitions',
  async (t) => {
    const words = parseRelations(small)
    t.equal(words.match('dogs', 'dog'), 1, 'matches inflected forms')
    t.equal(words.match('hide', 'hid'), 1, 'matches irregular forms')
    t.equal(words.match('unknown', 'unknown'), 1, 'a word without meanings matches itself')
    t.equal(words.match('hide', 'conceal'), 0.9, 'matches a synonym')
    t.equal(words.match('animal', 'poodle'), 0.9, 'a specific word matches a more general wanted word')
    t.ok(
      words.match('poodle', 'dog') < words.match('dog', 'poodle'),
      'a general word matches a more specific wanted word less',
    )
    t.equal(words.match('canine', 'hound'), 0.8, 'matches a related meaning')
    t.equal(words.match('bark', 'dog'), 0.6, 'matches a word of the definition')
    t.equal(words.match('cat', 'conceal'), 0)
    t.ok(words.getSpecificity('poodle') >= words.getSpecificity('dog'))
    t.equal(parseRelations('').match('dog', 'hound'), 0, 'returns 0 without relations')
  },
)

verifies('minds:memory:relations', 'RelationsFile reads the file again after a failure', async (t) => {
  const file = join(t.testdir(), 'relations.txt.br')
  const relations = new RelationsFile(file)
  await t.rejects(getRelations.call(relations), { code: 'ENOENT' })
  writeFileSync(file, brotliCompressSync(small))
  t.equal(await getRelations.call(relations), await getRelations.call(relations))
})

verifies('minds:memory:relations', 'word relations are parsed in short steps', async (t) => {
  const steps = [...WordRelations.parse(Array.from({ length: 3000 }, (_, n) => `word${n}\t\t\t`).join('\n'))]
  t.ok(steps.length > 20, `${steps.length} steps for 3000 meanings`)
})

verifies('minds:memory:relations', 'a memory answers a question that uses different words', async (t) => {
  const pairs: readonly (readonly [string, string])[] = [
    ['Which animal did Greta buy?', 'Greta purchased a donkey.'],
    ['Who mended the roof?', 'The carpenter Jens repaired the roof.'],
    ['What illness does the child have?', 'My daughter has the measles.'],
    ['Where can I find a beverage?', 'They serve beer in the cellar.'],
    ['How many kids has Greta?', 'Greta has three children.'],
    ['Where did Aldo and Berta meet?', 'Aldo first saw Berta at the fair.'],
  ]
  for (const [question, claim] of pairs) t.ok(judge(question, claim) > 0, question)
})

verifies(
  'minds:memory:relations',
  'a memory without the requested detail does not answer a question',
  async (t) => {
    const pairs: readonly (readonly [string, string])[] = [
      ['How many sheep has Greta?', 'Greta sold her sheep.'],
      ["What is the name of Greta's dog?", 'Greta lost her dog.'],
      ['Why did Greta sell the sheep?', 'Greta sold three sheep.'],
      ['Who is the sister of Greta?', 'Greta bakes bread.'],
      ['Who repaired the bridge?', 'The bridge is long.'],
      ['What colour is the door of the inn?', 'The inn has a heavy door.'],
    ]
    for (const [question, claim] of pairs) t.equal(judge(question, claim), 0, question)
  },
)
