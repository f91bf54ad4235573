import { defineApp } from '@causeway/app-kit'
import { about, echo, input, output, toolNames } from './hundred-tools.ts'

/** A user app with a hundred trivial tools. */
export default defineApp(
  { name: 'Bench', about: 'A hundred trivial tools.', open: () => ({}), session: () => ({}) },
  (app) => {
    for (const name of toolNames)
      app.tool(name, {
        about,
        hints: { readOnly: true },
        input,
        output,
        example: { args: { text: 'a' } },
        run: echo,
      })
  },
)
