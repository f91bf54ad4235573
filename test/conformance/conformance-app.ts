/** The tools, resources and prompts that the official conformance suite requires, under its names. */
import { accepted, ask, defineApp, elicit, type Registrar } from '@causeway/app-kit'
import type { Content, PromptMessage } from '@causeway/protocol'
import { z } from 'zod'
import { askingTools } from './asking-tools.ts'
import { contentTools, png } from './content-tools.ts'
import { rawTool, text } from './raw-tool.ts'
import { schemaTools } from './schema-tools.ts'
import { taskTools } from './task-tools.ts'

interface Store {
  /** Whether the temporary tool is listed. */
  isExtended: boolean
  readonly toolsChanged: () => void
}

const triggers = (store: Store) => [
  rawTool('test_trigger_tool_change', () => {
    store.isExtended = !store.isExtended
    store.toolsChanged()
    return text('The list of tools changed.')
  }),
  ...(store.isExtended ? [rawTool('test_here_and_gone', () => text('here'))] : []),
]

const user = (content: Content): PromptMessage => ({ role: 'user', content })
const userText = (words: string): PromptMessage => user({ type: 'text', text: words })

export default defineApp(
  {
    name: 'Conformance',
    about: 'The fixtures of the official conformance suite.',
    open: ({ changed }): Store => ({ isExtended: false, toolsChanged: changed.tools }),
    session: () => ({}),
    discover: async (store) => [
      ...contentTools,
      ...schemaTools,
      ...askingTools,
      ...taskTools,
      ...triggers(store),
    ],
  },
  (app) => {
    resources(app)
    prompts(app)
  },
)

function resources(app: Registrar<Store, object>): void {
  app.resource('test://static-text', {
    name: 'static-text',
    about: 'Text that never changes.',
    mimeType: 'text/plain',
    read: async () => ({ text: 'This is the content of the static text resource.' }),
  })
  app.resource('test://static-binary', {
    name: 'static-binary',
    about: 'A picture of one pixel.',
    mimeType: 'image/png',
    read: async () => ({ bytes: Buffer.from(png, 'base64') }),
  })
  app.resource('test://watched-resource', {
    name: 'watched-resource',
    about: 'A resource for subscriptions.',
    mimeType: 'text/plain',
    read: async () => ({ text: 'watched' }),
  })
  app.resource('test://template/{id}/data', {
    name: 'template',
    about: 'The data for an id.',
    read: async ({ id }) => ({ json: { id, templateTest: true, data: `Data for ID: ${id}` } }),
  })
}

const context = { context: z.string() }

function prompts(app: Registrar<Store, object>): void {
  app.prompt('test_simple_prompt', {
    about: 'A prompt without arguments.',
    input: {},
    messages: () => [userText('This is a simple prompt for testing.')],
  })
  app.prompt('test_prompt_with_arguments', {
    about: 'A prompt with two arguments.',
    input: { arg1: z.string().describe('the first'), arg2: z.string().describe('the second') },
    complete: { arg1: async () => ['paris', 'park', 'party'] },
    messages: ({ arg1, arg2 }) => [userText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  })
  app.prompt('test_prompt_with_embedded_resource', {
    about: 'A prompt with an embedded resource.',
    input: { resourceUri: z.string().describe('URI of the resource') },
    messages: ({ resourceUri }) => [
      user({
        type: 'resource',
        resource: {
          uri: resourceUri,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      userText('Please process the embedded resource above.'),
    ],
  })
  app.prompt('test_prompt_with_image', {
    about: 'A prompt with a picture.',
    input: {},
    messages: () => [
      user({ type: 'image', data: png, mimeType: 'image/png' }),
      userText('Please analyze the image above.'),
    ],
  })
  app.prompt('test_input_required_result_prompt', {
    about: 'A prompt that asks the user first.',
    input: {},
    messages: (_, { input }) => {
      const given = accepted(input, 'user_context', context)
      if (given === undefined)
        return ask({ user_context: elicit('What context should the prompt use?', context) })
      return [userText(`Use this context: ${given.context}`)]
    },
  })
}
