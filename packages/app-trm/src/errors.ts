import { defineErrors } from '@causeway/protocol'
import { StoreError } from '@causeway/store'

const reject = (status: number) => ({ rpc: -32602, status })
const [badRequest, unprocessable] = [reject(400), reject(422)]

export const TrmError = defineErrors({
  INVALID_CANDIDATE: {
    ...badRequest,
    about: 'the candidate is not one of the five modes, or a part of it is malformed',
    remedy: 'correct the candidate: in addition to mode it has exactly one of changes, patch or files',
  },
  INVALID_PATH: {
    ...badRequest,
    about: 'a path of the candidate may not be written',
    remedy: 'give a path relative to the project, with forward slashes, outside .git and not through a link',
  },
  DUPLICATE_PATH: {
    ...badRequest,
    about: 'one candidate names a file twice',
    remedy: 'put all changes of a file into one entry',
  },
  PATH_MISMATCH: {
    ...badRequest,
    about: 'the header of a diff names another file than its path',
    remedy: 'leave the header out, or make it name the file of path',
  },
  FILE_EXISTS: {
    ...reject(409),
    about: 'the candidate creates a file that exists',
    remedy: 'use mode files to overwrite it, or modify to change it',
  },
  FILE_TOO_LARGE: {
    ...reject(413),
    about: 'a file or the candidate is over its limit',
    remedy: 'send a smaller change',
  },
  NOT_TEXT: {
    ...unprocessable,
    about: 'the file is not UTF-8 text, so it cannot be edited',
    remedy: 'overwrite, rename or delete it as a whole',
  },
  BINARY_PATCH: {
    ...unprocessable,
    about: 'the patch holds a binary change',
    remedy: 'leave binary files out of the patch, and write them separately',
  },
  INVALID_DIFF: {
    ...badRequest,
    about: 'the text is not a unified diff',
    remedy: 'send lines that begin with @@, a space, + or -, or use mode modify',
  },
  HUNK_MISMATCH: {
    ...unprocessable,
    about: 'a hunk of the diff fits nowhere in the file',
    remedy: 'use the current lines of the file in data.closest, and send the diff again',
  },
  HUNK_AMBIGUOUS: {
    ...unprocessable,
    about: 'a hunk of the diff fits at several places',
    remedy: 'add context lines until it fits at one of data.lines only, or use mode modify with line numbers',
  },
  INVALID_EDIT: {
    ...badRequest,
    about: 'an edit is empty or changes nothing',
    remedy: 'correct or leave out the edit',
  },
  INVALID_LINE: {
    ...badRequest,
    about: 'a line number lies outside of the file',
    remedy: 'use a line from 1 to data.line_count; trm.lines shows them',
  },
  EDIT_OVERLAP: {
    ...badRequest,
    about: 'two edits of a file touch the same text',
    remedy: 'join the edits of data.edits; all positions refer to the file before the candidate',
  },
  REPLACE_NOT_FOUND: {
    ...unprocessable,
    about: 'the text to replace is not in the file',
    remedy: 'use the current text of the file in data.closest',
  },
  REPLACE_AMBIGUOUS: {
    ...unprocessable,
    about: 'the text to replace is in the file more than once',
    remedy: 'add surrounding lines, or pass all: true or occurrence; data.lines has its line numbers',
  },
  STALE_FILE: {
    ...reject(409),
    about: 'the file is not in the state that the candidate was written for',
    remedy: 'read the file again, then send a candidate for its current content',
  },
  INVALID_NOTEBOOK: {
    ...unprocessable,
    about: 'the file is not a notebook, or would no longer be one',
    remedy: "address cells by index or id, and don't change the JSON around them",
  },
  CELL_NOT_FOUND: {
    ...reject(404),
    about: 'the notebook has no such cell',
    remedy: 'use an index from 0 or an id of data.cells',
  },
  USER_EDIT_CONFLICT: {
    status: 409,
    about: 'files were edited by someone else since the session wrote them',
    remedy: 'look at data.conflicts; force: true overwrites these edits',
  },
  SNAPSHOT_NOT_FOUND: {
    status: 404,
    about: 'no snapshot has this id',
    remedy:
      'it was removed, or the data folder is damaged: list the checkpoints, or restore the data folder from a backup',
  },
  SNAPSHOT_TOO_LARGE: {
    status: 413,
    about: 'the project is too large for a snapshot',
    remedy:
      'exclude the folders named in data.largest in .gitignore, or start the session in a subfolder of the project',
  },
  SNAPSHOT_UNAVAILABLE: {
    status: 503,
    about: 'a snapshot of version 0.2 is stored with git, and git was not found',
    remedy: 'make git available in the PATH of the server',
  },
  TREE_BUSY: {
    status: 409,
    retryable: true,
    about: 'a file changed while it was being replaced',
    remedy: 'call again',
  },
  NOT_A_DIFF: {
    ...unprocessable,
    about: 'the text to review is not a unified diff',
    remedy: 'send the output of git diff, or files',
  },
  TRM_OFF: {
    status: 403,
    about: 'no folder is configured in which Trm may run commands',
    remedy: 'set CAUSEWAY_TRM_ROOTS to the folders of the projects and start the server again',
  },
  COMMAND_REFUSED: {
    status: 403,
    about: 'the policy of the server does not allow this command',
    remedy:
      'use one of data.allowed, allow it in CAUSEWAY_TRM_COMMANDS, or add the token to CAUSEWAY_TRM_TRUSTED',
  },
  SANDBOX_UNAVAILABLE: {
    status: 503,
    about: 'commands cannot be confined on this machine',
    remedy:
      'install bubblewrap and allow user namespaces, or set options.sandbox and CAUSEWAY_TRM_SANDBOX to auto',
  },
  TOO_MANY_SESSIONS: {
    status: 429,
    about: 'too many sessions are active',
    remedy: 'end one of data.sessions with trm.end',
  },
  SESSION_BUSY: {
    status: 409,
    retryable: true,
    about: 'the session evaluates a candidate',
    remedy: 'call trm.state with wait until it is done; trm.end stops it',
  },
  PROJECT_BUSY: {
    status: 409,
    retryable: true,
    about: 'another session evaluates a candidate in this project',
    remedy: 'call again when it is done; data.sid names it',
  },
  PROTECTED_FILE: {
    status: 403,
    about: 'the candidate changes files that the session protects',
    remedy: 'leave data.paths out of the candidate; options.protect of trm.start names them',
  },
  SESSION_HALTED: {
    status: 409,
    about: 'the session has used all its steps',
    remedy: 'end it, or pass force: true to continue',
  },
  NO_TESTS_CHOSEN: {
    ...reject(409),
    about: 'the session has no failed test or no test command',
    remedy: 'call without only, or with test ids from failures and missing',
  },
  TESTS_NOT_SELECTABLE: {
    status: 422,
    about: 'the runner of the test command cannot run some tests only',
    remedy:
      'call without only to run all tests; pytest, unittest, node --test, jest, vitest and mocha support a selection',
  },
  CHECKPOINT_NOT_FOUND: {
    ...reject(404),
    about: 'the session has no such checkpoint',
    remedy: 'call trm.list for the ids',
  },
  TOO_MANY_CHECKPOINTS: {
    status: 409,
    about: 'the session has the maximum number of checkpoints',
    remedy: 'start a new session from here, or continue without',
  },
  TOO_MANY_PATHS: {
    ...badRequest,
    about: 'too many files are requested at once',
    remedy: 'ask for at most 50',
  },
  INVALID_RANGE: {
    ...badRequest,
    about: 'the range ends before it begins',
    remedy: 'give a start that is not after the end',
  },
  LINE_BEYOND_END: {
    ...reject(416),
    about: 'the file ends before the line',
    remedy: 'use a line up to data.line_count',
  },
  REVIEW_URL_DISABLED: {
    status: 403,
    about: 'pull requests are not fetched',
    remedy: 'send the output of gh pr diff as diff',
  },
})

export type TrmErrorCode = keyof typeof TrmError.definitions

/** Converts errors of a full or read-only disk to `DATA_UNWRITABLE`. Returns other errors unchanged. */
export const toDiskError = (error: unknown): unknown =>
  /^(ENOSPC|EDQUOT|EFBIG|EROFS)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? '')
    ? new StoreError(
        'DATA_UNWRITABLE',
        'a copy of the project cannot be written: the disk is full or read-only',
        {
          remedy: 'free disk space in the data folder and in the folder of temporary files',
          cause: error,
        },
      )
    : error
