import t, { type Test } from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { withContent } from '../src/answer.ts'
import { defineApp, type Registrar } from '../src/define-app.ts'
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
  t.notMatch(text, /"pattern"/, 'the format of the date says it')
  t.match(text, /"format":"date"/)
  t.equal(
    JSON.stringify(outputSchema).match(/"nullable"|"null"/g)?.length,
    3,
    'a shape used twice stands once',
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
  t.throws(declare({ output: { a: z.bigint() } }), refused, 'what JSON cannot say')
  t.throws(declare({ input: { a: z.string() } }), refused, 'an argument without a description')
  t.throws(declare({ about: ' ' }), refused, 'a tool without a description')
  t.throws(declare({}, 'addNumbers'), refused, 'a name in camel case')
  t.throws(declare({}, `add_${'long_'.repeat(9)}numbers`), refused, 'a name too long to stand behind the app')
  t.throws(declare({ aliases: { bare: ['trm start'] } }), refused, 'a bare alias with a space')
  t.throws(declare({ aliases: { full: ['trm.start'] } }), refused, 'a full alias with a dot')
  t.throws(
    () =>
      app((registrar) => {
        registrar.tool('add', base as never)
        registrar.tool('add', base as never)
      }),
    refused,
    'a name declared twice',
  )
  t.throws(() => defineApp({ name: 'demo', about: '', open: () => 0, session: () => 0 }, () => {}), refused)
})

t.test('arguments: each problem is told with what is expected', async (t) => {
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
  t.same(JSON.parse((text as { text: string }).text), answer.structuredContent, 'the text says the same')
})

t.test('answers: pictures come after the data, and the data is still checked', async (t) => {
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
    'an answer against its own schema is our defect',
  )
})

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
