import { defineApp, defineErrors, type Registrar } from '@causeway/app-kit'
import { z } from 'zod'

/** The errors of this app: HTTP status, meaning, and what the caller can do. */
const HelloError = defineErrors({
  NOT_A_NAME: { status: 422, about: 'the text is not a name', remedy: 'use a name that contains a letter' },
})

/** The shared store: how often each name was greeted. */
type Greeted = Map<string, number>

/** The state of one client: the name that it greeted last. Plain JSON, saved by the server. */
interface HelloSession {
  last: string | null
}

/** Hello: a minimal app with a store, client state and tools. */
export default defineApp(
  {
    name: 'Hello',
    about: 'Greets people and remembers their names: an example app.',
    errors: [HelloError],
    open: (): Greeted => new Map(),
    session: (): HelloSession => ({ last: null }),
  },
  (app) => {
    greetingTools(app)
  },
)

function greetingTools(app: Registrar<Greeted, HelloSession>): void {
  app.tool('greet', {
    about: 'Greet a person by name. Returns the greeting and the name that this client greeted before.',
    input: {
      name: z.string().min(1).max(80).describe('Name of the person'),
      loud: z.boolean().default(false).describe('Whether to greet in capital letters'),
    },
    output: { greeting: z.string(), times: z.int(), before: z.string().nullable() },
    example: { args: { name: 'Ada' } },
    run({ name, loud }, { store, session }) {
      if (!/\p{Letter}/u.test(name))
        throw new HelloError('NOT_A_NAME', `not a name: ${name}`, { data: { name } })
      const times = (store.get(name) ?? 0) + 1
      store.set(name, times)
      const before = session.last
      session.last = name
      const greeting = `Hello, ${name}!`
      return { greeting: loud ? greeting.toUpperCase() : greeting, times, before }
    },
  })

  app.tool('list_greeted', {
    about: 'List all names that any client has greeted since the server started.',
    hints: { readOnly: true },
    input: {},
    output: { people: z.array(z.object({ name: z.string(), times: z.int() })), summary: z.string() },
    example: { args: {}, before: [{ tool: 'greet', args: { name: 'Ada' } }] },
    run(_args, { store }) {
      const people = [...store].map(([name, times]) => ({ name, times }))
      return { people, summary: `${people.length} greeted.` }
    },
  })
}
