import { z } from 'zod'
import { appSettings, flag, list, setting, whole } from './setting.ts'

export const trmSettings = appSettings('Trm', {
  trmRoots: setting({
    env: 'CAUSEWAY_TRM_ROOTS',
    schema: list(),
    defaultText: 'none: Trm is disabled',
    meaning:
      'folders with projects in which Trm may write files and run commands, separated like PATH; no other setting adds folders',
  }),
  trmCommands: setting({
    env: 'CAUSEWAY_TRM_COMMANDS',
    schema: z.string().min(1).default('any'),
    meaning:
      'commands that Trm sessions may run: any, detected (only those that trm.start finds in the project), or a regular expression that must match the whole command',
  }),
  trmTrusted: setting({
    env: 'CAUSEWAY_TRM_TRUSTED',
    schema: list(','),
    meaning:
      'names of tokens, separated by commas, that may start Trm sessions with any command, regardless of CAUSEWAY_TRM_COMMANDS',
  }),
  trmSandbox: setting({
    env: 'CAUSEWAY_TRM_SANDBOX',
    schema: z.enum(['none', 'auto', 'bwrap']).default('none'),
    meaning:
      'minimum isolation of the commands of Trm sessions: none (limits and a working copy only), auto (bubblewrap if it works) or bwrap (commands fail without it); a session can request more',
  }),
  trmReviewUrl: setting({
    env: 'CAUSEWAY_TRM_REVIEW_URL',
    schema: flag(false),
    meaning: 'removed and without effect: trm.review does not fetch pull requests',
  }),
  trmParallel: setting({
    env: 'CAUSEWAY_TRM_PARALLEL',
    schema: whole(2, { min: 1, max: 64 }),
    meaning: 'maximum concurrent evaluations of Trm; further ones wait',
  }),
})
