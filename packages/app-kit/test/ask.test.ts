import t from 'tap'
import { z } from 'zod'
import {
  accepted,
  ask,
  defineApp,
  elicit,
  elicitUrl,
  isAsk,
  listRoots,
  replyTo,
  sample,
} from '../src/index.ts'
import { openForTest } from '../src/testing.ts'

const size = { size: z.int().min(1).describe('size in metres') }

const app = defineApp(
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

t.test('ask: a call runs again with the replies and with what it kept', async (t) => {
  const open = await openForTest(app, { dir: t.testdir() })
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

t.test('ask: a client that gives no replies is told so', async (t) => {
  const client = (await openForTest(app, { dir: t.testdir() })).client()
  await t.rejects(client.call('build'), { code: 'CLIENT_CANNOT_ANSWER' })
})

t.test('elicit: a form is a flat, open schema', async (t) => {
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

t.test('replyTo: tells the three kinds apart, and gives nothing for what is none', async (t) => {
  const replies = {
    form: { action: 'decline' },
    words: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hello' } },
    folders: { roots: [{ uri: 'file:///a', name: 'a' }] },
    wrong: { action: 'maybe' },
    text: 'hello',
  }
  t.match(replyTo({ replies }, 'form'), { kind: 'elicited', action: 'decline' })
  t.match(replyTo({ replies }, 'words'), { kind: 'sampled', model: 'm', content: { text: 'hello' } })
  t.match(replyTo({ replies }, 'folders'), { kind: 'roots', roots: [{ uri: 'file:///a' }] })
  for (const key of ['wrong', 'text', 'absent', 'toString']) t.equal(replyTo({ replies }, key), undefined)
})

t.test('accepted: only a form that was sent off and fits counts', async (t) => {
  const of = (reply: unknown) => accepted({ replies: { size: reply } }, 'size', size)
  t.same(of({ action: 'accept', content: { size: 2, more: true } }), { size: 2 })
  t.equal(of({ action: 'decline', content: { size: 2 } }), undefined)
  t.equal(of({ action: 'accept', content: { size: 'two' } }), undefined)
  t.equal(of({ action: 'accept' }), undefined)
})
