import { setTimeout as wait } from 'node:timers/promises'
import { type AppTool, accepted, ask, elicit } from '@causeway/app-kit'
import { z } from 'zod'
import { rawTool, text } from './raw-tool.ts'

const schema = (properties: object) => ({ type: 'object', properties })
const confirm = { confirm: z.boolean() }
const named = { name: z.string(), confirm: z.boolean() }
const name = { name: z.string() }

/** Longer than the time after which the server turns a call into a task. */
const longMs = 300

/** Slow tools for the task scenarios of the suite. */
export const taskTools: readonly AppTool[] = [
  rawTool('greet', ({ name }) => text(`Hello, ${name}!`), schema({ name: { type: 'string' } })),
  rawTool(
    'slow_compute',
    async ({ seconds, label }, { signal }) => {
      await wait(Number(seconds) * 1000, undefined, { signal })
      return text(`computed ${label}`)
    },
    schema({ seconds: { type: 'number' }, label: { type: 'string' } }),
    'optional',
  ),
  rawTool(
    'failing_job',
    async (_, { signal }) => {
      await wait(1000, undefined, { signal })
      return { content: text('the job failed'), isError: true }
    },
    undefined,
    'required',
  ),
  rawTool(
    'protocol_error_job',
    async (_, { signal }) => {
      await wait(longMs, undefined, { signal })
      throw new Error('a defect of the tool')
    },
    undefined,
    'optional',
  ),
  rawTool(
    'confirm_delete',
    async ({ filename }, { input, signal }) => {
      await wait(longMs, undefined, { signal })
      const given = accepted(input, 'confirm', confirm)
      if (given === undefined) return ask({ confirm: elicit(`Delete ${filename}?`, confirm) })
      return text(given.confirm ? `deleted ${filename}` : `kept ${filename}`)
    },
    schema({ filename: { type: 'string' } }),
    'optional',
  ),
  rawTool(
    'multi_input',
    async (_, { input, signal }) => {
      await wait(longMs, undefined, { signal })
      const [first, second] = ['first', 'second'].map((key) => accepted(input, key, named))
      if (first === undefined || second === undefined)
        return ask({ first: elicit('Who is first?', named), second: elicit('Who is second?', named) })
      return text(`${first.name}, ${second.name}`)
    },
    undefined,
    'optional',
  ),
  rawTool(
    'test_tool_with_task',
    async (_, { input, signal }) => {
      const given = accepted(input, 'user_name', name)
      if (given === undefined) return ask({ user_name: elicit('What is your name?', name) })
      await wait(longMs, undefined, { signal })
      return text(`Hello, ${given.name}!`)
    },
    undefined,
    'required',
  ),
]
