import { showText } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'

export default defineTool({
  name: 'word_count',
  category: 'text',
  title: 'Count words',
  about: 'Count the words of a text. Returns a showText command. Use it to test how commands are displayed.',
  searchHint: 'length of text',
  input: { text: z.string().describe('Text, with words separated by white space') },
  inject: {},
  run: ({ text }) => showText(`Word count: ${text.split(/\s+/).filter((word) => word !== '').length}`),
})
