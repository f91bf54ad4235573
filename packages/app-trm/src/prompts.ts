import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { Critic } from './session/critic.ts'
import type { ClientState } from './tools/tool-context.ts'

export function declarePrompts(app: Registrar<Critic, ClientState>): void {
  app.prompt('refine', {
    about: 'Improve a project step by step until its own checks pass.',
    input: {
      repo: z.string().describe('Project folder'),
      goal: z.string().optional().describe('The goal in a few words'),
      test: z.string().optional().describe('Command that runs the tests'),
    },
    messages: ({ repo, goal, test }) => {
      const commands =
        test === undefined
          ? 'and suitable commands; `detected` in the result lists some'
          : `and test "${test}"`
      const text = [
        `Refine the project "${repo}"${goal === undefined ? '' : `: ${goal}`}.`,
        '',
        `1. Call start with this repo ${commands}. The baseline lists the failures before any change.`,
        '2. Read only what you need: lines for a part, read for whole files.',
        '3. Change one thing for one reason. validate shows the changes of a candidate; submit applies and evaluates it. Prefer mode modify with replace for small changes.',
        '4. Read feedback from the beginning: it names the failing test, file and line. Do not change tests or their configuration to make them pass.',
        '5. Undo a step that made things worse and try another way; history in state lists the earlier attempts. save stores a good state.',
        '6. Stop when shouldHalt is true. Then end the session, with apply "best" if the last step was not the best, and report the changes, the test results and what the tests do not cover.',
      ].join('\n')
      return [{ role: 'user', content: { type: 'text', text } }]
    },
  })
}
