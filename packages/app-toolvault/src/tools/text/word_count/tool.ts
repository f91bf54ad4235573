import { z } from 'zod'
import { showText } from '../../../domain/command.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** word_count: words are divided by white space. */
export default vaultTool({
  name: 'word_count',
  category: 'text',
  about: 'Count the words of a text.',
  input: { text: z.string().describe('the text') },
  inject: {},
  samples,
  run: ({ text }) => showText(`Word count: ${text.split(/\s+/).filter((word) => word !== '').length}`),
})
