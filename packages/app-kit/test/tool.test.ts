import { readFileSync } from 'node:fs'
import type { CausewayError } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { readArguments } from '../src/arguments.ts'
import { defineApp, type Registrar } from '../src/define-app.ts'
import { accepted, ask, elicit, elicitUrl, isAsk, listRoots, replyTo, sample } from '../src/index.ts'
import { withContent } from '../src/result.ts'
import { openForTest } from '../src/testing.ts'
import { makeTool } from '../src/tool.ts'

const vector = z.object({ x: z.number().nullable(), y: z.number().nullable() })

const base = {
  about: 'Adds.',
  input: { a: z.int().min(1).describe('first'), at: z.iso.date().optional().describe('day') },
  output: { sum: z.number().nullable(), from: vector, to: vector },
  example: { args: { a: 1 } },
  run: ({ a }: { a: number }) => ({
    sum: a / 0,
    from: { x: 1, y: Number.NaN },
    to: { x: 2, y: 2 },
    extra: 'more',
  }),
}

const app = (declare: (registrar: Registrar<object, object>) => void) =>
  defineApp({ name: 'Demo', about: 'd', open: () => ({}), session: () => ({}) }, declare)

const open = async (t: Test, declare: (registrar: Registrar<object, object>) => void) => {
  const opened = await openForTest(app(declare), { dir: t.testdir() })
  t.teardown(() => opened.close())
  return opened.client()
}

verifies('app:declare:one-source', async (t) => {
  const tool = makeTool('add', base as never)
  t.match(tool, { name: 'add', about: 'Adds.', example: { args: { a: 1 } } })
  t.match(tool.inputSchema, { type: 'object', required: ['a'], properties: { a: { description: 'first' } } })
  t.match(tool.outputSchema, { type: 'object', required: ['sum', 'from', 'to'] })
  t.same(tool.annotations, {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  })
})

verifies('app:schema:self-contained', async (t) => {
  const { inputSchema, outputSchema } = makeTool('add', base as never)
  const text = JSON.stringify([inputSchema, outputSchema])
  t.notMatch(text, /\$schema/)
  t.notMatch(text, /9007199254740991/)
  t.notMatch(text, /"pattern"/, 'the format of the date suffices')
  t.match(text, /"format":"date"/)
  t.equal(
    JSON.stringify(outputSchema).match(/"nullable"|"null"/g)?.length,
    3,
    'a shape that is used twice is defined once',
  )
})

verifies('app:schema:output-open', async (t) => {
  const { inputSchema, outputSchema } = makeTool('add', base as never)
  t.equal(inputSchema.additionalProperties, false)
  t.notMatch(JSON.stringify(outputSchema), /additionalProperties/)
})

verifies('app:declare:refused', async (t) => {
  const declare =
    (changes: object, name = 'add') =>
    () =>
      app((registrar) => registrar.tool(name, { ...base, ...changes } as never))
  const refused = { code: 'INVALID_APP' }
  t.throws(declare({ output: { a: z.string().transform(Number) } }), refused, 'a transform in the output')
  t.throws(declare({ output: { a: z.bigint() } }), refused, 'a type without a JSON Schema')
  t.throws(declare({ input: { a: z.string() } }), refused, 'an argument without a description')
  t.throws(declare({ about: ' ' }), refused, 'a tool without a description')
  t.throws(declare({}, 'addNumbers'), refused, 'a name in camel case')
  t.throws(declare({}, `add_${'long_'.repeat(9)}numbers`), refused, 'a name that is too long with its prefix')
  t.throws(declare({ aliases: { bare: ['trm start'] } }), refused, 'a bare alias with a space')
  t.throws(declare({ aliases: { full: ['trm.start'] } }), refused, 'a full alias with a dot')
  t.throws(
    () =>
      app((registrar) => {
        registrar.tool('add', base as never)
        registrar.tool('add', base as never)
      }),
    refused,
    'a duplicate name',
  )
  t.throws(() => defineApp({ name: 'demo', about: '', open: () => 0, session: () => 0 }, () => {}), refused)
})

t.test('INVALID_ARGUMENTS lists each problem and the expected arguments', async (t) => {
  const client = await open(t, (registrar) => registrar.tool('add', base as never))
  await t.rejects(client.call('add', { a: 'x', att: 1 }), {
    code: 'INVALID_ARGUMENTS',
    message: 'add: a expected number, received string, att is unknown (did you mean at?)',
    data: { problems: [{ argument: 'a' }, { argument: 'att', did_you_mean: 'at' }], expected: ['a', 'at'] },
  })
  await t.rejects(client.call('add', {}), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'a', problem: 'is missing (number)' }] },
  })
  await t.rejects(client.call('add', { a: 0 }), { message: /too small/ })
  await t.rejects(client.call('add', 7), { code: 'INVALID_ARGUMENTS' })
})

verifies('app:answer:non-finite', async (t) => {
  const client = await open(t, (registrar) => registrar.tool('add', base as never))
  const answer = await client.answer('add', { a: 1 })
  t.match(answer.structuredContent, { sum: null, from: { x: 1, y: null }, extra: 'more' })
  const [text] = answer.content
  t.same(
    JSON.parse((text as { text: string }).text),
    answer.structuredContent,
    'the text contains the same data',
  )
})

t.test(
  'withContent adds content after the data, and data that does not match its schema is INTERNAL',
  async (t) => {
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
    const client = await open(t, (registrar) => {
      const run = () => withContent({ sum: 1, from: { x: 1, y: 1 }, to: { x: 1, y: 1 } }, [image])
      registrar.tool('draw', { ...base, run } as never)
      registrar.tool('lie', { ...base, run: () => ({ sum: 'one' }) } as never)
    })
    t.same((await client.answer('draw', { a: 1 })).content.at(-1), image)
    await t.rejects(
      client.call('lie', { a: 1 }),
      { code: 'INTERNAL' },
      'data that does not match its schema is a defect',
    )
  },
)

verifies('app:argument:other-names', async (t) => {
  const client = await open(t, (app) =>
    app.tool('start', {
      about: 'Starts.',
      input: {
        repo: z.string().describe('folder'),
        halt: z.strictObject({ max: z.int() }).optional().describe('policy'),
      },
      output: { repo: z.string(), max: z.int().optional() },
      aliases: { args: { repo_path: 'repo', repoPath: 'repo', 'halt.max_steps': 'halt.max' } },
      example: { args: { repo: 'a' } },
      run: ({ repo, halt }) => ({ repo, ...halt }),
    }),
  )
  t.same(await client.call('start', { repo_path: 'a', halt: { max_steps: 3 } }), { repo: 'a', max: 3 })
  t.same(await client.call('start', { repoPath: 'b' }), { repo: 'b' })
  await t.rejects(client.call('start', { repo: 'a', repo_path: 'b' }), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'repo_path' }] },
  })
})

function rejected(schema: z.ZodObject, args: unknown): CausewayError {
  try {
    readArguments('add', schema, args)
  } catch (error) {
    return error as CausewayError
  }
  throw new Error('the arguments were accepted')
}

verifies(
  'limits:arguments',
  'readArguments reports at most 20 unknown arguments and their number',
  async (t) => {
    let read = 0
    const schema = z.strictObject({ frame_id: z.unknown().refine(() => ++read > 0) })
    const names = Array.from({ length: 50_000 }, (_, index) => [`frame_i${index}`, 1] as const)
    const { message, data } = rejected(schema, Object.fromEntries(names))
    t.equal(read, 0, 'nothing was validated')
    t.match(data, { problem_count: 50_000, expected: ['frame_id'] })
    t.equal((data.problems as unknown[]).length, 20)
    t.match(message, /frame_i0 is unknown \(did you mean frame_id\?\).*, and 49980 more$/)
  },
)

verifies('limits:arguments', 'readArguments reports at most 20 problems of a nested object', async (t) => {
  const schema = z.strictObject({ filter: z.strictObject({ kind: z.string() }) })
  const filter = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]))
  const { data } = rejected(schema, { filter })
  t.equal((data.problems as unknown[]).length, 20)
  t.equal(data.problem_count, 1001)
})

verifies('limits:arguments', 'readArguments stops at the 20th invalid item of a long list', async (t) => {
  let read = 0
  const item = z.unknown().refine(() => {
    read += 1
    return false
  })
  const schemas = [z.array(item), z.array(item).optional(), z.union([z.literal('all'), z.array(item)])]
  for (const list of schemas) {
    read = 0
    const { data } = rejected(z.strictObject({ list }), { list: Array(100_000).fill(1) })
    t.equal((data.problems as unknown[]).length, 20)
    t.match(data, { problems: [{ argument: 'list.0' }] })
    t.equal(read, 20)
  }
  const nested = z.strictObject({ filter: z.object({ rows: z.array(z.array(item)) }) })
  read = 0
  t.match(rejected(nested, { filter: { rows: [Array(100_000).fill(1)] } }).data, {
    problems: [{ argument: 'filter.rows.0.0' }],
  })
  t.equal(read, 20)
})

verifies('limits:arguments', 'readArguments rejects a list with more than 500,000 items', async (t) => {
  const schema = z.strictObject({ list: z.array(z.number()) })
  t.same(readArguments('add', schema, { list: Array(500_000).fill(1) }).list.length, 500_000)
  t.match(rejected(schema, { list: Array(500_001).fill(1) }), { message: /list has more than 500000 items/ })
})

verifies('limits:arguments', 'readArguments shortens long names in its error', async (t) => {
  const schema = z.strictObject({ frame_id: z.number().optional() })
  const { message, data } = rejected(schema, { ['k'.repeat(1e6)]: 1 })
  t.ok(message.length < 500)
  t.ok(JSON.stringify(data).length < 500)
})

const size = { size: z.int().min(1).describe('size in metres') }

const askApp = defineApp(
  { name: 'Asker', about: 'Asks.', open: () => ({}), session: () => ({}) },
  (registrar) => {
    registrar.tool('build', {
      about: 'Asks for a size, then for a confirmation, then builds.',
      input: {},
      output: { built: z.int() },
      example: { args: {} },
      run(_, { input, notify }) {
        const kept = input.kept as { size: number } | undefined
        const reply = replyTo(input, 'sure')
        if (kept !== undefined && reply?.kind === 'elicited' && reply.action === 'accept') {
          notify('info', 'building')
          return { built: kept.size }
        }
        const given = accepted(input, 'size', size)
        return given === undefined
          ? ask({ size: elicit('Which size?', size) })
          : ask({ sure: elicitUrl('Pay first', 'https://example.com/pay') }, given)
      },
    })
    registrar.prompt('greet', {
      about: 'Greets the first folder.',
      input: {},
      messages(_, { input }) {
        const reply = replyTo(input, 'folders')
        if (reply?.kind !== 'roots') return ask({ folders: listRoots() })
        return [{ role: 'user', content: { type: 'text', text: `Greet ${reply.roots[0]?.uri}` } }]
      },
    })
  },
)

t.test('a tool that asks questions is called again with the replies and its stored state', async (t) => {
  const open = await openForTest(askApp, { dir: t.testdir() })
  const client = open.client()
  const asked: string[] = []
  const reply = (_question: unknown, key: string) => {
    asked.push(key)
    return { action: 'accept', content: { size: 3 } }
  }
  t.same(await client.call('build', {}, { reply }), { built: 3 })
  t.same(asked, ['size', 'sure'])
  t.same(client.messages, [['info', 'building']])
  const folders = () => ({ roots: [{ uri: 'file:///a' }] })
  t.match(await client.prompt('greet', {}, { reply: folders }), [{ content: { text: 'Greet file:///a' } }])
})

t.test('a question to a client without support fails with CLIENT_CANNOT_ANSWER', async (t) => {
  const client = (await openForTest(askApp, { dir: t.testdir() })).client()
  await t.rejects(client.call('build'), { code: 'CLIENT_CANNOT_ANSWER' })
})

t.test('elicit returns a flat, open form schema, and isAsk accepts only results of ask', async (t) => {
  t.same(elicit('Which size?', size), {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which size?',
      requestedSchema: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 1, description: 'size in metres' } },
        required: ['size'],
      },
    },
  })
  t.equal(sample({ messages: [], maxTokens: 5 }).method, 'sampling/createMessage')
  t.ok(isAsk(ask({})))
  t.notOk(isAsk({ questions: {} }))
})

t.test('replyTo returns each kind of reply, and undefined for a malformed one', async (t) => {
  const replies = {
    form: { action: 'decline' },
    message: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hello' } },
    folders: { roots: [{ uri: 'file:///a', name: 'a' }] },
    wrong: { action: 'maybe' },
    text: 'hello',
  }
  t.match(replyTo({ replies }, 'form'), { kind: 'elicited', action: 'decline' })
  t.match(replyTo({ replies }, 'message'), { kind: 'sampled', model: 'm', content: { text: 'hello' } })
  t.match(replyTo({ replies }, 'folders'), { kind: 'roots', roots: [{ uri: 'file:///a' }] })
  for (const key of ['wrong', 'text', 'absent', 'toString']) t.equal(replyTo({ replies }, key), undefined)
})

t.test('accepted returns the declared fields of a submitted form if they are valid', async (t) => {
  const read = (reply: unknown) => accepted({ replies: { size: reply } }, 'size', size)
  t.same(read({ action: 'accept', content: { size: 2, more: true } }), { size: 2 })
  t.equal(read({ action: 'decline', content: { size: 2 } }), undefined)
  t.equal(read({ action: 'accept', content: { size: 'two' } }), undefined)
  t.equal(read({ action: 'accept' }), undefined)
})

t.test('the example app of the README works', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, source = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? []
  const dir = t.testdir({ 'notes.ts': source })
  const { default: notes } = await import(`${dir}/notes.ts`)
  const client = (await openForTest(notes, { dir })).client()
  t.same(await client.call('put_note', { id: 'a', text: 'Buy milk' }), { count: 1 })
  t.same(await client.call('get_note', { id: 'a' }), { text: 'Buy milk' })
  await t.rejects(client.call('get_note', { id: 'b' }), { code: 'NOTE_NOT_FOUND', data: { id: 'b' } })
})
