/** The user app that the transcripts call: one of every kind of declaration, slow calls that end on request. */
import { accepted, ask, defineApp, elicit, makeTool, replyTo, sample, withContent } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'

const note = 'sample://notes/a'

const open = ({ changed }: { changed: { tools(): void; resource(uri: string): void } }) => ({
  changed,
  /** Ends one waiting call each. */
  release: new Set<() => void>(),
  text: 'first',
  hasExtra: false,
})

type Store = ReturnType<typeof open>

const extra = makeTool('extra', {
  about: 'Appears when `toggle_extra` is called.',
  input: {},
  output: {},
  example: { args: {} },
  run: () => ({}),
})

/** Waits for the tool `release`. Rejects when the call is cancelled. */
async function untilReleased({ release }: Store, signal: AbortSignal): Promise<void> {
  let end = (): void => {}
  const released = new Promise<void>((resolve, reject) => {
    end = resolve
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  release.add(end)
  await released.finally(() => release.delete(end))
}

export default defineApp(
  {
    name: 'Sample',
    about: 'Shows every kind of declaration.',
    open,
    session: () => ({ count: 0 }),
    discover: async ({ hasExtra }) => (hasExtra ? [extra] : []),
  },
  (app) => {
    app.tool('echo', {
      about: 'Returns its arguments and the name of the client.',
      input: {
        text: z.string().describe('any text'),
        times: z.int().min(1).max(100_000).optional().describe('repetitions'),
      },
      output: { text: z.string(), client: z.string() },
      hints: { readOnly: true },
      aliases: { bare: ['sample.echo'], full: ['Old__echo'] },
      example: { args: { text: 'hello' } },
      run: ({ text, times = 1 }, { client }) => ({ text: text.repeat(times), client: client.name }),
    })
    app.tool('count', {
      about: 'Counts the calls of this client.',
      input: {},
      output: { count: z.int(), shared: z.boolean() },
      example: { args: {} },
      run: (_, { session, sharedSession }) => ({ count: ++session.count, shared: sharedSession }),
    })
    app.tool('fail', {
      about: 'Fails: with a declared error, with a defect, or with output that does not fit its schema.',
      input: { how: z.enum(['error', 'defect', 'output']).describe('the kind of failure') },
      output: { value: z.string() },
      example: { args: { how: 'error' } },
      run({ how }) {
        if (how === 'error')
          throw new CausewayError('RATE_LIMITED', 'nothing is loaded', { data: { hint: 1 } })
        if (how === 'defect') throw new Error('an internal detail')
        return { value: 1 as unknown as string }
      },
    })
    app.tool('wait', {
      about: 'Reports progress, then waits for `release`.',
      input: { steps: z.int().min(0).describe('number of progress reports') },
      output: { steps: z.int() },
      example: { args: { steps: 0 } },
      async run({ steps }, { store, signal, progress }) {
        for (let step = 1; step <= steps; step++) progress(step, steps, `step ${step}`)
        await untilReleased(store, signal)
        return { steps }
      },
    })
    app.tool('release', {
      about: 'Ends every waiting call.',
      input: {},
      output: { released: z.int() },
      example: { args: {} },
      run(_, { store: { release } }) {
        const waiting = [...release]
        for (const end of waiting) end()
        return { released: waiting.length }
      },
    })
    app.tool('waiting', {
      about: 'Returns the number of waiting calls.',
      input: {},
      output: { calls: z.int() },
      hints: { readOnly: true },
      example: { args: {} },
      run: (_, { store }) => ({ calls: store.release.size }),
    })
    app.tool('log', {
      about: 'Sends two log messages.',
      input: {},
      output: { sent: z.int() },
      example: { args: {} },
      run(_, { notify }) {
        notify('debug', 'a detail')
        notify('warning', { text: 'a warning' })
        return { sent: 2 }
      },
    })
    app.tool('picture', {
      about: 'Returns a number and a picture.',
      input: {},
      output: { value: z.number().nullable() },
      example: { args: {} },
      run: () => withContent({ value: Number.NaN }, [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]),
    })
    app.tool('ask_name', {
      about: 'Asks the user for a name, then for a colour.',
      input: {},
      output: { name: z.string(), colour: z.string() },
      example: { args: {} },
      run(_, { input }) {
        const kept = input.kept as { readonly name: string } | undefined
        const name = kept?.name ?? accepted(input, 'name', { name: z.string() })?.name
        if (name === undefined) return ask({ name: elicit('What is your name?', { name: z.string() }) })
        const colour = accepted(input, 'colour', { colour: z.string() })?.colour
        if (colour !== undefined) return { name, colour }
        return ask({ colour: elicit('Which colour?', { colour: z.string() }) }, { name })
      },
    })
    app.tool('ask_model', {
      about: "Asks the client's model.",
      input: {},
      output: { reply: z.string() },
      example: { args: {} },
      run(_, { input }) {
        const reply = replyTo(input, 'greeting')
        if (reply?.kind === 'sampled') return { reply: JSON.stringify(reply.content) }
        const messages = [{ role: 'user', content: { type: 'text', text: 'Say hello.' } }]
        return ask({ greeting: sample({ messages, maxTokens: 10 }) })
      },
    })
    app.tool('long_job', {
      about: 'Waits for `release`; clients that support tasks get a task.',
      input: { fail: z.boolean().optional().describe('whether it fails') },
      output: { done: z.boolean() },
      task: 'optional',
      example: { args: {} },
      async run({ fail = false }, { store, signal, progress }) {
        progress(1, 2, 'started')
        await untilReleased(store, signal)
        if (fail) throw new CausewayError('RATE_LIMITED', 'nothing is loaded')
        return { done: true }
      },
    })
    app.tool('task_only', {
      about: 'Asks for a confirmation; only for clients that support tasks.',
      input: {},
      output: { confirmed: z.boolean() },
      task: 'required',
      example: { args: {} },
      async run(_, { input, store, signal }) {
        const reply = accepted(input, 'confirm', { confirm: z.boolean() })
        if (reply !== undefined) return { confirmed: reply.confirm }
        await untilReleased(store, signal)
        return ask({ confirm: elicit('Continue?', { confirm: z.boolean() }) })
      },
    })
    app.tool('in_region', {
      about: 'Takes an argument that is also sent as a header.',
      input: { region: z.string().optional().describe('a region').meta({ 'x-mcp-header': 'Region' }) },
      output: { region: z.string() },
      example: { args: {} },
      run: ({ region = 'none' }) => ({ region }),
    })
    app.tool('toggle_extra', {
      about: 'Adds or removes the tool `extra`.',
      input: {},
      output: { extra: z.boolean() },
      example: { args: {} },
      run(_, { store }) {
        store.hasExtra = !store.hasExtra
        store.changed.tools()
        return { extra: store.hasExtra }
      },
    })
    app.tool('write_note', {
      about: 'Changes the note.',
      input: { text: z.string().describe('the new text') },
      output: { uri: z.string() },
      example: { args: { text: 'second' } },
      run({ text }, { store }) {
        store.text = text
        store.changed.resource(note)
        return { uri: note }
      },
    })
    app.resource('sample://notes/{id}', {
      name: 'note',
      about: 'One note.',
      list: async () => [{ uri: note, name: 'a' }],
      complete: { id: async () => ['alpha', 'beta'] },
      async read({ id = '' }, { store }) {
        if (id !== 'a') throw new CausewayError('RESOURCE_NOT_FOUND', `no such note: ${id}`)
        return { json: { id, text: store.text } }
      },
    })
    app.resource('sample://picture', {
      name: 'picture',
      about: 'Bytes.',
      mimeType: 'image/png',
      read: async () => ({ bytes: Buffer.from('AAAA', 'base64') }),
    })
    app.prompt('greet', {
      about: 'A greeting.',
      input: {
        who: z.string().describe('name of the person'),
        tone: z.string().optional().describe('tone of the greeting'),
      },
      complete: { who: async () => ['Ada', 'Alan', 'Grace'] },
      messages: ({ who }) => [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
    })
    app.prompt('interview', {
      about: 'A prompt that asks the user first.',
      input: {},
      messages(_, { input }) {
        const topic = accepted(input, 'topic', { topic: z.string() })?.topic
        if (topic === undefined) return ask({ topic: elicit('Which topic?', { topic: z.string() }) })
        return [{ role: 'user', content: { type: 'text', text: `Interview me about ${topic}.` } }]
      },
    })
    app.route('GET', '/notes/{id}', {
      about: 'Returns a note.',
      handle: async (_request, { id }, { store }) => Response.json({ id, text: store.text }),
    })
    app.route('POST', '/notes/{id}', {
      about: 'Echoes a note and counts.',
      handle: async (request, { id }, { call }) =>
        Response.json({ id, body: await request.text(), counted: await call('count', {}) }, { status: 201 }),
    })
    app.route('PUT', '/lines/{name}', {
      about: 'Echoes lines as they arrive.',
      streams: true,
      body: { accepts: ['application/x-ndjson'], untyped: true },
      handle: async (request) =>
        new Response(request.body, { headers: { 'content-type': 'application/x-ndjson' } }),
    })
    app.route('GET', '/failure/{how}', {
      about: 'Fails.',
      async handle(_request, { how }) {
        if (how === 'error') throw new CausewayError('RATE_LIMITED', 'nothing is loaded')
        throw new Error('an internal detail')
      },
    })
    app.route('GET', '/events', {
      about: 'An event stream with one event.',
      async handle() {
        const body = new ReadableStream({ start: (out) => out.enqueue(Buffer.from('data: first\n\n')) })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    app.socket('/', {
      about: 'Echoes, counts and fails.',
      open: (socket) => socket.send('welcome'),
      async message(text, socket, { call }) {
        if (text === 'count') return socket.send(JSON.stringify(await call('count', {})))
        if (text === 'error') throw new CausewayError('RATE_LIMITED', 'nothing is loaded')
        if (text === 'defect') throw new Error('an internal detail')
        if (text === 'close') return socket.close('done')
        await socket.send(`echo ${text}`)
      },
    })
    app.socket('/rooms/{room}', {
      about: 'Returns the room.',
      message: (_text, socket) => socket.send(String(socket.variables.room)),
    })
  },
)
