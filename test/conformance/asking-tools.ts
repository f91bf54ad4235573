import {
  type AppTool,
  type Ask,
  accepted,
  ask,
  elicit,
  type Input,
  listRoots,
  replyTo,
  sample,
} from '@causeway/app-kit'
import type { InputRequest } from '@causeway/protocol'
import { z } from 'zod'
import { rawTool, text } from './raw-tool.ts'

const message = (words: string, maxTokens = 100): InputRequest =>
  sample({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens })

/** A form with exactly the schema of the suite. */
const form = (words: string, properties: object, required: readonly string[] = []): InputRequest => ({
  method: 'elicitation/create',
  params: { message: words, requestedSchema: { type: 'object', properties, required } },
})

const name = { name: z.string() }
const color = { color: z.string() }
const ok = { ok: z.boolean() }

const sampledText = (input: Input, key: string): string | undefined => {
  const reply = replyTo(input, key)
  return reply?.kind === 'sampled' ? JSON.stringify(reply.content) : undefined
}

const askName = (): Ask => ask({ user_name: elicit('What is your name?', name) })

/** A tool that shows a form to the user and returns the response. */
const formTool = (
  listed: string,
  words: string,
  properties: object,
  required: readonly string[] = [],
): AppTool =>
  rawTool(listed, (_, { input }) => {
    const reply = replyTo(input, 'form')
    if (reply?.kind !== 'elicited') return ask({ form: form(words, properties, required) })
    return text(
      `Elicitation completed: action=${reply.action}, content=${JSON.stringify(reply.content ?? {})}`,
    )
  })

/** A tool that requests a confirmation and stores state between its runs. */
const confirm = (listed: string): AppTool =>
  rawTool(listed, (_, { input }) => {
    if (input.kept === undefined || accepted(input, 'confirm', ok) === undefined)
      return ask({ confirm: elicit('Please confirm', ok) }, { round: 1 })
    return text('state-ok')
  })

const choices = (key: string, word: string, titles: readonly string[]) =>
  titles.map((title, index) => ({ const: `${key}${index + 1}`, title: `${title} ${word}` }))
const ordinals = ['First', 'Second', 'Third']
const options = ['option1', 'option2', 'option3']

/** Tools that send requests to the client, in both eras. */
export const askingTools: readonly AppTool[] = [
  rawTool(
    'test_sampling',
    ({ prompt }, { input }) => {
      const reply = sampledText(input, 'reply')
      return reply === undefined ? ask({ reply: message(String(prompt)) }) : text(`LLM response: ${reply}`)
    },
    { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  ),
  rawTool(
    'test_elicitation',
    ({ message: words }, { input }) => {
      const reply = replyTo(input, 'response')
      const field = (description: string) => ({ type: 'string', description })
      const properties = { username: field("User's response"), email: field("User's email address") }
      return reply === undefined
        ? ask({ response: form(String(words), properties, ['username', 'email']) })
        : text(`User response: ${JSON.stringify(reply)}`)
    },
    { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  ),
  formTool('test_elicitation_sep1034_defaults', 'Please check the defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  formTool('test_elicitation_sep1330_enums', 'Please choose', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: choices('value', 'Option', ordinals) },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: choices('value', 'Choice', ordinals) } },
  }),
  rawTool('test_missing_capability', (_, { input }) => {
    const reply = sampledText(input, 'reply')
    return reply === undefined ? ask({ reply: message('Is anyone there?') }) : text(reply)
  }),
  rawTool('test_streaming_elicitation', (_, { input, progress }) => {
    progress(1, 2)
    const given = accepted(input, 'user_name', name)
    return given === undefined ? askName() : text(`Hello, ${given.name}!`)
  }),
  rawTool('test_input_required_result_elicitation', (_, { input }) => {
    const given = accepted(input, 'user_name', name)
    return given === undefined ? askName() : text(`Hello, ${given.name}!`)
  }),
  rawTool('test_input_required_result_sampling', (_, { input }) => {
    const reply = sampledText(input, 'capital_question')
    return reply === undefined
      ? ask({ capital_question: message('What is the capital of France?') })
      : text(reply)
  }),
  rawTool('test_input_required_result_list_roots', (_, { input }) => {
    const reply = replyTo(input, 'client_roots')
    if (reply?.kind !== 'roots') return ask({ client_roots: listRoots() })
    return text(reply.roots.map(({ uri }) => uri).join(' '))
  }),
  confirm('test_input_required_result_request_state'),
  confirm('test_input_required_result_tampered_state'),
  rawTool('test_input_required_result_multiple_inputs', (_, { input }) => {
    const given = accepted(input, 'user_name', name)
    const greeting = sampledText(input, 'greeting')
    const roots = replyTo(input, 'client_roots')
    if (given !== undefined && greeting !== undefined && roots?.kind === 'roots')
      return text(`${greeting} ${given.name}, ${roots.roots.length} roots`)
    return ask(
      {
        user_name: elicit('What is your name?', name),
        greeting: message('Generate a greeting', 50),
        client_roots: listRoots(),
      },
      { asked: 'all' },
    )
  }),
  rawTool('test_input_required_result_multi_round', (_, { input }) => {
    const kept = input.kept as { readonly name?: string } | undefined
    const first = accepted(input, 'step1', name)
    const second = accepted(input, 'step2', color)
    if (kept?.name !== undefined && second !== undefined) return text(`${kept.name} likes ${second.color}`)
    if (first !== undefined)
      return ask({ step2: elicit('Step 2: What is your favorite color?', color) }, first)
    return ask({ step1: elicit('Step 1: What is your name?', name) }, {})
  }),
  rawTool('test_input_required_result_capabilities', (_, { input }) => {
    const questions = {
      reply: message('Hello?'),
      user_name: elicit('What is your name?', name),
      roots: listRoots(),
    }
    const possible = Object.entries(questions).filter(([, question]) => input.can(question))
    return Object.keys(input.replies).length > 0 ? text('thanks') : ask(Object.fromEntries(possible))
  }),
]
