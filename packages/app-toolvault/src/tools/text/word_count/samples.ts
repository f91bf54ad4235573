import { showText } from '../../../domain/command.ts'
import type { Sample } from '../../../vault-tool.ts'

/** Empty, short and spaced texts. */
export const samples: readonly [Sample, ...Sample[]] = [
  { name: 'two-words', input: { text: 'Hello world' }, expectedOutput: showText('Word count: 2') },
  { name: 'empty', input: { text: '' }, expectedOutput: showText('Word count: 0') },
  { name: 'spaced', input: { text: '  one\n\ttwo  ' }, expectedOutput: showText('Word count: 2') },
]
