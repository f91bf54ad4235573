import { defineApp } from '@causeway/app-kit'
import { z } from 'zod'

/** Two tools that cost the server next to nothing, loaded as a user app: a short answer, and one of any length. */
export default defineApp(
  { name: 'Relay', about: 'Short and long answers.', open: () => ({}), session: () => ({}) },
  (app) => {
    app.tool('echo', {
      about: 'Gives back the text that it is given.',
      hints: { readOnly: true },
      input: { text: z.string().describe('the text to give back') },
      output: { text: z.string() },
      example: { args: { text: 'a' } },
      run: ({ text }) => ({ text }),
    })
    app.tool('fill', {
      about: 'Gives back as many letters as it is told; an answer carries them twice, as text and as data.',
      hints: { readOnly: true },
      input: { letters: z.int().min(0).describe('number of letters') },
      output: { text: z.string() },
      example: { args: { letters: 1 } },
      run: ({ letters }) => ({ text: 'x'.repeat(letters) }),
    })
  },
)
