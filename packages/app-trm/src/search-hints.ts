/** Words that users have for the tools and that their names and descriptions lack. */
export const searchHints = {
  start: 'fix tests, improve code, repository',
  submit: 'try patch, run tests',
  undo: 'last change made it worse, revert',
  state: 'progress, is it finished',
  end: 'finish, keep best version',
  validate: 'does diff apply, dry run',
  read: 'show source code',
  lines: 'show part of source file',
  halt: 'continue or stop',
  save: 'make checkpoint',
  list: 'which checkpoints exist',
  restore: 'go back to checkpoint',
  reset: 'throw away all attempts',
  suggest: 'what to try next',
  fix: 'missing import, typo, automatic repair',
  review: 'code review, feedback on changes',
} as const
