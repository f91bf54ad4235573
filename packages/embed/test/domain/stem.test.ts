import t from 'tap'
import { stem } from '../../src/domain/stem.ts'

/** Pairs from Porter's paper, An algorithm for suffix stripping, 1980, taken through all steps. */
const examples = {
  caresses: 'caress',
  ponies: 'poni',
  ties: 'ti',
  cats: 'cat',
  feed: 'feed',
  agreed: 'agre',
  plastered: 'plaster',
  bled: 'bled',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  troubled: 'troubl',
  sized: 'size',
  hopping: 'hop',
  falling: 'fall',
  hissing: 'hiss',
  fizzed: 'fizz',
  failing: 'fail',
  filing: 'file',
  happy: 'happi',
  sky: 'sky',
  relational: 'relat',
  conditional: 'condit',
  valenci: 'valenc',
  digitizer: 'digit',
  radicalli: 'radic',
  vietnamization: 'vietnam',
  operator: 'oper',
  hopefulness: 'hope',
  sensibiliti: 'sensibl',
  triplicate: 'triplic',
  formative: 'form',
  electrical: 'electr',
  goodness: 'good',
  revival: 'reviv',
  allowance: 'allow',
  adjustable: 'adjust',
  replacement: 'replac',
  adoption: 'adopt',
  probate: 'probat',
  rate: 'rate',
  cease: 'ceas',
  controll: 'control',
  roll: 'roll',
  oscillators: 'oscil',
  generalizations: 'gener',
}

t.test('stem: the words of the paper', async (t) => {
  for (const [word, expected] of Object.entries(examples)) t.equal(stem(word), expected, word)
})

t.test('stem: what is no English word stays', async (t) => {
  for (const word of ['be', 'http2', 'fst_err', 'überall', '検索']) t.equal(stem(word), word)
})
