import { defineApp } from '@causeway/app-kit'
import { z } from 'zod'

/** A user app with two cheap tools: a short result, and a result of any length. */
export default defineApp(
  { name: 'Relay', about: 'Short and long answers.', open: () => ({}), session: () => ({}) },
  (app) => {
    app.tool('echo', {
      about: 'Gives back the text that it is given.',
      hints: { readOnly: true },
      input: { text: z.string().describe('Text to return') },
      output: { text: z.string() },
      example: { args: { text: 'a' } },
      run: ({ text }) => ({ text }),
    })
    app.tool('fill', {
      about: 'Return a number of letters. The result contains them twice, as text and as data.',
      hints: { readOnly: true },
      input: { letters: z.int().min(0).describe('Number of letters') },
      output: { text: z.string() },
      example: { args: { letters: 1 } },
      run: ({ letters }) => ({ text: 'x'.repeat(letters) }),
    })
  },
)
