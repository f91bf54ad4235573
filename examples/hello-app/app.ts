import { defineApp, type Registrar } from '@causeway/app-kit'
import { z } from 'zod'

/** What every client shares: each name that was greeted, and how often. */
type Greeted = Map<string, number>

/** What belongs to one client: whom it greeted last. Plain JSON; the server saves it. */
interface HelloSession {
  last: string | null
}

/** Hello: the smallest app that uses everything an app is made of. */
export default defineApp(
  {
    name: 'Hello',
    about: 'Greets people and remembers whom: an example of an app.',
    open: (): Greeted => new Map(),
    session: (): HelloSession => ({ last: null }),
  },
  (app) => {
    greetingTools(app)
  },
)

function greetingTools(app: Registrar<Greeted, HelloSession>): void {
  app.tool('greet', {
    about: 'Greets someone by name, and says whom this client greeted before.',
    input: {
      name: z.string().min(1).max(80).describe('whom to greet'),
      loud: z.boolean().default(false).describe('in capital letters'),
    },
    output: { greeting: z.string(), times: z.int(), before: z.string().nullable() },
    example: { args: { name: 'Ada' } },
    run({ name, loud }, { store, session }) {
      const times = (store.get(name) ?? 0) + 1
      store.set(name, times)
      const before = session.last
      session.last = name
      const greeting = `Hello, ${name}!`
      return { greeting: loud ? greeting.toUpperCase() : greeting, times, before }
    },
  })

  app.tool('list_greeted', {
    about: 'Everyone who was greeted since the server started, by any client.',
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
