import { z } from 'zod'
import { flag, list, setting, whole } from './setting.ts'

/** Settings of Trm. */
export const trmSettings = {
  trmRoots: setting({
    env: 'CAUSEWAY_TRM_ROOTS',
    schema: list(),
    defaultText: 'none: Trm is off',
    meaning:
      'folders with projects in which Trm may write files and run commands, divided like PATH; no other setting adds to them',
    app: 'Trm',
  }),
  trmCommands: setting({
    env: 'CAUSEWAY_TRM_COMMANDS',
    schema: z.string().min(1).default('any'),
    meaning:
      'commands that sessions of Trm may run: any, detected (only those that trm.start finds in the project), or a regular expression that the whole command matches',
    app: 'Trm',
  }),
  trmTrusted: setting({
    env: 'CAUSEWAY_TRM_TRUSTED',
    schema: list(','),
    defaultText: 'none',
    meaning:
      'names of tokens, divided by commas, whose holders may start sessions of Trm with any command, whatever CAUSEWAY_TRM_COMMANDS allows all others',
    app: 'Trm',
  }),
  trmSandbox: setting({
    env: 'CAUSEWAY_TRM_SANDBOX',
    schema: z.enum(['none', 'auto', 'bwrap']).default('none'),
    meaning:
      'what confines the commands of every session of Trm at least: none (limits and a work copy only), auto (bubblewrap where it works) or bwrap (nothing runs without it); a session can ask for more',
    app: 'Trm',
  }),
  trmReviewUrl: setting({
    env: 'CAUSEWAY_TRM_REVIEW_URL',
    schema: flag(false),
    meaning: 'whether trm.review fetches the diff of a public pull request from GitHub, without credentials',
    app: 'Trm',
  }),
  trmParallel: setting({
    env: 'CAUSEWAY_TRM_PARALLEL',
    schema: whole(2, { min: 1, max: 64 }),
    meaning: 'evaluations of Trm that run at once; further ones wait',
    app: 'Trm',
  }),
}
