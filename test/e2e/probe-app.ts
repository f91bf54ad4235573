/** A user app for tests of running servers: slow calls, counters of those calls, and one declaration of each kind. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineApp, defineErrors } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'

const ProbeError = defineErrors({
  NOTHING_LOADED: { status: 409, about: 'nothing is loaded', remedy: 'load something' },
})

const notes = 'probe://notes/'

export default defineApp(
  {
    name: 'Probe',
    about: 'Waits, fails and notifies on demand.',
    errors: [ProbeError],
    open: ({ changed }) => ({
      changed,
      begun: 0,
      aborted: 0,
      release: [] as (() => void)[],
      text: 'first',
    }),
    session: () => ({}),
  },
  (app) => {
    app.tool('wait', {
      about: 'Reports its steps, then waits to be released.',
      input: { steps: z.int().min(0).describe('number of steps') },
      output: { steps: z.int() },
      example: { args: { steps: 0 } },
      async run({ steps }, { store, signal, progress }) {
        for (let step = 1; step <= steps; step++) progress(step, steps, `step ${step}`)
        store.begun += 1
        const isReleased = await new Promise<boolean>((resolve) => {
          store.release.push(() => resolve(true))
          signal.addEventListener('abort', () => resolve(false))
        })
        if (isReleased) return { steps }
        store.aborted += 1
        throw signal.reason
      },
    })
    app.tool('linger', {
      about: 'Waits until a file exists.',
      input: { file: z.string().describe('path of the file') },
      output: { file: z.string() },
      example: { args: { file: '/' } },
      async run({ file }, { store, signal }) {
        store.begun += 1
        while (!existsSync(file)) await pause(10, undefined, { signal })
        return { file }
      },
    })
    app.tool('release', {
      about: 'Ends every waiting call.',
      input: {},
      output: { released: z.int() },
      example: { args: {} },
      run(_, { store }) {
        const waiting = store.release.splice(0)
        for (const go of waiting) go()
        return { released: waiting.length }
      },
    })
    app.tool('seen', {
      about: 'Returns the total numbers of started and aborted calls of wait.',
      input: {},
      output: { begun: z.int(), aborted: z.int() },
      hints: { readOnly: true },
      example: { args: {} },
      run: (_, { store: { begun, aborted } }) => ({ begun, aborted }),
    })
    app.tool('fail', {
      about: 'Fails with a code.',
      input: {},
      output: { never: z.string() },
      example: { args: {} },
      run() {
        throw new ProbeError('NOTHING_LOADED', 'nothing is loaded', { data: { hint: 'probe' } })
      },
    })
    app.tool('write', {
      about: 'Changes the note.',
      input: { text: z.string().describe('the new text') },
      output: { uri: z.string() },
      example: { args: { text: 'second' } },
      run({ text }, { store }) {
        store.text = text
        store.changed.resource(`${notes}a`)
        return { uri: `${notes}a` }
      },
    })
    app.resource(`${notes}{id}`, {
      name: 'note',
      about: 'The note.',
      list: async () => [{ uri: `${notes}a`, name: 'a' }],
      complete: { id: async () => ['a'] },
      read: async ({ id = '' }, { store }) => {
        if (id !== 'a') throw new CausewayError('RESOURCE_NOT_FOUND', `no such note: ${id}`)
        return { json: { id, text: store.text } }
      },
    })
    app.prompt('greet', {
      about: 'A greeting.',
      input: { who: z.string().describe('name of the person') },
      complete: { who: async () => ['Ada', 'Alan', 'Grace'] },
      messages: ({ who }) => [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
    })
  },
)
