/** A conversation that a person starts with a project. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { Critic } from './critic.ts'
import type { TrmSession } from './tools/shape.ts'

/** Declares refine. */
export function trmPrompts(app: Registrar<Critic, TrmSession>): void {
  app.prompt('refine', {
    about: 'Improve a project step by step until its own checks say that it is good.',
    input: {
      repo: z.string().describe('folder of the project'),
      goal: z.string().optional().describe('what is wanted, in a few words'),
      test: z.string().optional().describe('command that runs the tests'),
    },
    messages: ({ repo, goal, test }) => [
      {
        role: 'user',
        content: {
          type: 'text',
          text: [
            `Refine the project "${repo}"${goal === undefined ? '' : `: ${goal}`}.`,
            '',
            `1. Call start with this repo${test === undefined ? ' and the commands that fit; `detected` in its answer names some' : ` and test "${test}"`}. Its baseline says what fails before any change.`,
            '2. Read only what you need: lines for a part, read for whole files.',
            '3. Change one thing for one reason. validate shows what a candidate would change; submit applies and judges it. Prefer mode modify with replace for small changes.',
            '4. Read feedback from its beginning: it names the failing test, file and line. Do not change tests or their configuration to make them pass.',
            '5. A step that made things worse: undo it, and try another way; history in state says what was tried. save keeps a good state.',
            '6. Stop when shouldHalt is true. Then end the session, with apply "best" where the last step was not the best, and tell what was changed, what the tests say, and what they do not cover.',
          ].join('\n'),
        },
      },
    ],
  })
}
