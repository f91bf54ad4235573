import { verifies } from '../../../../test/verifies.ts'
import { judgeAnswer } from '../../src/domain/judge-answer.ts'
import { parseQuestion } from '../../src/domain/question.ts'
import { WordRelations } from '../../src/domain/word-relations.ts'
import { RelationsFile } from '../../src/memory/relations-file.ts'
import { parseRelations } from '../minds-kit.ts'

/** Animal, dog (a kind), hound (the same), poodle (a kind), cat; bark (related to dog), hide, conceal; irregular forms. */
const small = [
  ['animal\t\t\t', 'dog hound\t0\t\tbark', 'poodle\t1\t\tcurly', 'cat\t0\t\tpurr', 'bark\t\t\t'].join('\n'),
  ['hide conceal\t\t\t', 'canine\t\t1\t'].join('\n'),
  ['hid hide', 'mice mouse'].join('\n'),
].join('\n\n')

const relations = await new RelationsFile().get()

const judge = (question: string, claim: string): number =>
  judgeAnswer(
    parseQuestion(question, 8000),
    { content: `Ben told me: ${claim}`, sim_time: 5000 },
    { minSupport: 0.6, relations },
  )

verifies(
  'minds:memory:relations',
  'reads meanings, broader meanings, related meanings and definitions',
  async (t) => {
    const words = parseRelations(small)
    t.equal(words.match('dogs', 'dog'), 1, 'inflected forms')
    t.equal(words.match('hide', 'hid'), 1, 'irregular forms')
    t.equal(words.match('unknown', 'unknown'), 1, 'words without meanings match themselves')
    t.equal(words.match('hide', 'conceal'), 0.9, 'the same meaning')
    t.equal(words.match('animal', 'poodle'), 0.9, 'a kind answers the general word')
    t.ok(words.match('poodle', 'dog') < words.match('dog', 'poodle'), 'the general word answers less')
    t.equal(words.match('canine', 'hound'), 0.8, 'a related meaning')
    t.equal(words.match('bark', 'dog'), 0.6, 'a word of the definition')
    t.equal(words.match('cat', 'conceal'), 0)
    t.ok(words.weigh('poodle') >= words.weigh('dog'))
    t.equal(parseRelations('').match('dog', 'hound'), 0, 'no relations')
  },
)

verifies('minds:memory:relations', 'are parsed in short steps', async (t) => {
  const steps = [...WordRelations.parse(Array.from({ length: 3000 }, (_, n) => `word${n}\t\t\t`).join('\n'))]
  t.ok(steps.length > 20, `${steps.length} steps for 3000 meanings`)
})

verifies('minds:memory:relations', 'accepts memories in other words', async (t) => {
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
  'rejects memories that do not contain what the question asks',
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
