import type { Requirements } from '../requirement.ts'

/** Trm: refinement of code. */
export const trm = {
  'trm:off': {
    origin: 'refinement design, security rules',
    behaviour: 'no session starts without CAUSEWAY_TRM_ROOTS, even if other roots are configured',
  },
  'trm:start:outside': {
    origin: 'refinement design, acceptance 1',
    behaviour:
      'a project outside the roots is rejected, directly and through a link, and no session is created',
  },
  'trm:start:defaults': {
    origin: 'original refinement design, evaluation signals and halting',
    behaviour:
      'start applies and returns the defaults of the original design, and accepts its long argument names',
  },
  'trm:start:invalid': {
    origin: 'refinement design, acceptance 3',
    behaviour: 'start names each invalid or unknown argument',
  },
  'trm:start:detected': {
    origin: 'refinement design, acceptance 4',
    behaviour:
      'start returns detected commands without running them, and reports a command without its program as unavailable',
  },
  'trm:limits:names': {
    origin: 'refinement design, errors',
    behaviour: 'names and commands that the system rejects have coded errors',
  },
  'trm:limits:disk': {
    origin: 'refinement design, errors',
    behaviour:
      'a full disk causes a coded error and changes no file, and the session continues when space is free',
  },
  'trm:start:absent': {
    origin: 'refinement design, isolation',
    behaviour:
      'start reports ignored files and other repositories that a failed baseline names, with the option that links them',
  },
  'trm:start:editable': {
    origin: 'refinement design, isolation',
    behaviour: 'start warns about an editable install that would hide candidates from the tests',
  },
  'trm:start:commands': {
    origin: 'refinement design, security rules',
    behaviour: 'the server can allow only detected or matching commands, and any command for some tokens',
  },
  'trm:tests:reports': {
    origin: 'refinement design, reports',
    behaviour:
      'machine-readable reports of pytest, node --test, TAP, vitest, jest and mocha are read completely',
  },
  'trm:tests:text': {
    origin: 'refinement design, reports',
    behaviour: 'the text output of every runner is read if there is no report',
  },
  'trm:lint:diagnostics': {
    origin: 'refinement design, reports',
    behaviour: 'diagnostics of flake8, pylint, mypy, tsc and eslint are read',
  },
  'trm:perf:units': {
    origin: 'refinement design, signals',
    behaviour: 'a benchmark result is read as a time, bytes, a rate, JSON or a bare number',
  },
  'trm:perf:refused': {
    origin: 'refinement design, guards against gaming',
    behaviour: 'a benchmark result of 0, or at least 1,000 times better than the best, is rejected',
  },
  'trm:submit:edited': {
    origin: 'refinement design, work next to an editor',
    behaviour:
      'submit without a candidate evaluates edited files, which undo and end restore like a candidate',
  },
  'trm:score:formula': {
    origin: 'original refinement design, scoring',
    behaviour: 'the score is the weighted mean of the configured signals and the sum of the contributions',
  },
  'trm:score:missing': {
    origin: 'refinement design, acceptance 10',
    behaviour: 'unreadable, missing and skipped tests lower the value and prevent success',
  },
  'trm:halt:rules': {
    origin: 'refinement design, acceptance 12',
    behaviour: 'success precedes plateau, plateau precedes limit, and each applies exactly at its threshold',
  },
  'trm:halt:limit': {
    origin: 'refinement design, acceptance 12',
    behaviour: 'after the last step, a candidate is rejected unless `force` is set',
  },
  'trm:submit:modes': {
    origin: 'refinement design, acceptance 5 and 6',
    behaviour: 'a change produces the same bytes in every mode that supports it, and undo restores the files',
  },
  'trm:submit:atomic': {
    origin: 'refinement design, acceptance 7 to 9',
    behaviour: 'a rejected candidate does not change files, step or state',
  },
  'trm:submit:stale': {
    origin: 'refinement design, candidate modes',
    behaviour: 'a candidate for a file that changed after it was read is rejected with the difference',
  },
  'trm:submit:once': {
    origin: 'design, growing past one machine',
    behaviour: 'a repeated request returns the result of the first request',
  },
  'trm:submit:only': {
    origin: 'refinement design, peers: what users of test runners ask for',
    behaviour: 'failed or named tests can run alone, without a step or a change of the score',
  },
  'trm:submit:busy': {
    origin: 'refinement design, acceptance 28',
    behaviour: 'one session evaluates one candidate at a time',
  },
  'trm:submit:wait': {
    origin: 'refinement design, acceptance 31',
    behaviour: 'an evaluation that takes longer than wait continues, and state returns its result',
  },
  'trm:submit:cancel': {
    origin: 'refinement design, acceptance 26',
    behaviour: 'a cancelled evaluation ends soon and restores its files',
  },
  'trm:submit:progress': {
    origin: 'refinement design, acceptance 27',
    behaviour: 'each command of an evaluation reports increasing progress',
  },
  'trm:submit:same': {
    origin: 'refinement design, acceptance 32',
    behaviour: 'two evaluations of the same candidate have the same result',
  },
  'trm:submit:tamper': {
    origin: 'refinement design, guards against gaming',
    behaviour: 'the result warns about changed tests, configuration and scripts of the commands',
  },
  'trm:submit:guard': {
    origin: 'refinement design, guards against gaming',
    behaviour:
      'a candidate that changes tests is evaluated again with the original tests and succeeds only if both pass',
  },
  'trm:submit:gaming': {
    origin: 'refinement design, guards against gaming',
    behaviour:
      'a candidate that makes its evaluation look better without repairing the code is neither a success nor the best state',
  },
  'trm:submit:protected': {
    origin: 'refinement design, guards against gaming',
    behaviour: 'a session can reject candidates that change tests or configured paths',
  },
  'trm:submit:project': {
    origin: 'refinement design, dangers and process runner',
    behaviour: 'a project is evaluated for one session at a time',
  },
  'trm:submit:fail-fast': {
    origin: 'refinement design, peers: evaluation cascade',
    behaviour: 'with failFast, the commands after a failed command do not run and count as failed',
  },
  'trm:submit:improved': {
    origin: 'refinement design, isolation',
    behaviour: 'with `write: improved`, only a better candidate lands',
  },
  'trm:submit:end': {
    origin: 'refinement design, isolation',
    behaviour:
      'with `write: end`, the project changes only when the session ends, unless another program edited it',
  },
  'trm:signals:named': {
    origin: 'original refinement design, adding an evaluation signal',
    behaviour: 'additional signals have their own name, command and weight',
  },
  'trm:halt:noise': {
    origin: 'refinement design, signals',
    behaviour: 'an improvement within the noise of a benchmark does not reset the streak',
  },
  'trm:read:files': {
    origin: 'refinement design, acceptance 13',
    behaviour:
      'read returns files with metadata, an error for each unreadable file, and large files in parts',
  },
  'trm:lines:range': {
    origin: 'refinement design, acceptance 14',
    behaviour: 'lines are numbered, the end of a range is clamped, and each invalid range has its own code',
  },
  'trm:state:whole': {
    origin: 'refinement design, acceptance 15 and 16',
    behaviour: 'state and halt return the same result as submit',
  },
  'trm:validate:exact': {
    origin: 'refinement design, acceptance 17',
    behaviour: 'validate previews the changed lines, returns the errors of submit, and changes nothing',
  },
  'trm:restore:exact': {
    origin: 'refinement design, acceptance 19',
    behaviour:
      'a checkpoint restores files, step, scores, streak and notes, and user edits are conflicts unless forced',
  },
  'trm:save:most': {
    origin: 'refinement design, acceptance 19',
    behaviour: 'the twenty-first checkpoint is rejected',
  },
  'trm:reset:user': {
    origin: 'refinement design, acceptance 20',
    behaviour: 'reset retains files that the user changed, with and without git',
  },
  'trm:undo:exact': {
    origin: 'refinement design, acceptance 21',
    behaviour: 'undo restores files and the streak, one candidate at a time',
  },
  'trm:end:best': {
    origin: 'refinement design, acceptance 23',
    behaviour: 'end cancels a running evaluation and can restore the best files',
  },
  'trm:sid:unknown': {
    origin: 'refinement design, acceptance 24',
    behaviour: 'every tool with a session rejects an unknown session',
  },
  'trm:run:timeout': {
    origin: 'refinement design, acceptance 25',
    behaviour: 'a timeout kills every process that a command started',
  },
  'trm:run:output': {
    origin: 'refinement design, acceptance 29',
    behaviour: 'a bounded part of unlimited output is stored and contains the first failure',
  },
  'trm:run:shell': {
    origin: 'refinement design, acceptance 30',
    behaviour: 'commands are shell lines with lists, pipes, quotes and variables',
  },
  'trm:run:environment': {
    origin: 'refinement design, security rules',
    behaviour:
      'a command cannot read secrets of the server, and values of session variables are not returned',
  },
  'trm:run:confined': {
    origin: 'refinement design, security rules',
    behaviour:
      'limits apply to every command, and a sandboxed command has no network and writes only to its copy',
  },
  'trm:run:isolated': {
    origin: 'refinement design, isolation',
    behaviour: 'commands that write or delete files do not change the project',
  },
  'trm:run:audit': {
    origin: 'refinement design, security rules',
    behaviour:
      'each command is recorded with its folder, process, exit code, time and bytes, even after its session ends',
  },
  'trm:run:orphans': {
    origin: 'refinement design, process runner',
    behaviour: 'no process of a command outlives the server',
  },
  'trm:wire:names': {
    origin: 'original refinement design, tools',
    behaviour: 'tools are named trm.start to trm.fix on their own mount, and Trm__start on the shared mount',
  },
  'trm:story': {
    origin: 'refinement design, evaluation',
    behaviour: 'a project is refined from a failing test to success, and the repository has no other changes',
    over: ['direct', 'http', 'bridge'],
  },
  'trm:story:agent': {
    origin: 'refinement design, work next to an editor',
    behaviour:
      'a coding agent with its own editor needs five tools, reads at most twice the test output, and ends in the best state',
  },
  'trm:restart': {
    origin: 'refinement design, evaluation E7',
    behaviour:
      'after a server is killed during a test, no process remains, and the next server restores files and reports the interruption',
    over: ['http', 'bridge'],
  },
  'trm:advice:fix': {
    origin: 'refinement design, acceptance 18',
    behaviour:
      'a returned repair can be submitted unchanged and corrects the error, and no repair is returned without errors',
  },
  'trm:advice:unsure': {
    origin: 'refinement design, acceptance 18',
    behaviour: 'without a certain repair, fix returns the lines to examine',
  },
  'trm:review:rules': {
    origin: 'refinement design, acceptance 22',
    behaviour:
      'a review of a diff, files or a session returns line numbers of the new files and fetches nothing',
  },
  'trm:patterns:linear': {
    origin: 'design, safe by default',
    behaviour:
      'patterns of clients and projects cannot block the server, because matching does not backtrack',
  },
  'trm:review:linear': {
    origin: 'design, safe by default',
    behaviour: 'a review takes time linear in the length of its lines and rejects more than a million lines',
  },
  'trm:runs:toolz': {
    origin: 'refinement design, evaluation E1 and E2',
    behaviour:
      'toolz is refined with pytest and flake8, failures contain test, file and line, and only a repair is a success',
    over: ['http', 'bridge'],
  },
  'trm:runs:minimist': {
    origin: 'refinement design, evaluation E3 and E4',
    behaviour: 'minimist is refined with tape, node --test and a benchmark',
    over: ['http', 'bridge'],
  },
  'trm:runs:data': {
    origin: 'refinement design, evaluation E5',
    behaviour:
      'a data project with every standard signal and an additional one has the score of the formula at each step',
    over: ['http', 'bridge'],
  },
  'trm:runs:venv': {
    origin: 'refinement design, evaluation E5 and what is installed',
    behaviour:
      'a data project is evaluated with the modules of its virtual environment, which remains unchanged',
  },
  'trm:runs:hostile': {
    origin: 'refinement design, evaluation E6',
    behaviour: 'a test that forks, deletes files, floods its output and never ends costs only its time limit',
    over: ['http', 'bridge'],
  },
  'trm:candidate:perturbed': {
    origin: 'refinement design, patch robustness',
    behaviour:
      'no patch with wrong numbers, counts, headers, context, line endings or fences is applied wrongly, and 90 of 100 are applied',
  },
  'trm:candidate:format': {
    origin: 'refinement design, candidate modes',
    behaviour: 'line endings, the byte order mark and a missing final newline are preserved in every mode',
  },
  'trm:candidate:edits': {
    origin: 'refinement design, candidate modes',
    behaviour:
      'positions of edits refer to the original text, and overlapping and ambiguous edits are rejected',
  },
  'trm:candidate:patch': {
    origin: 'refinement design, candidate modes',
    behaviour:
      'a patch creates, deletes, renames and changes files, including binary files and executable bits',
  },
  'trm:candidate:refused': {
    origin: 'refinement design, security rules',
    behaviour:
      'paths out of the project, into .git or through links, binary patches and ambiguous hunks are rejected',
  },
  'trm:candidate:notebook': {
    origin: 'refinement design, candidate modes',
    behaviour: 'notebook cells are edited by index or id, and all other characters are preserved',
  },
  'trm:snapshot:exact': {
    origin: 'refinement design, isolation',
    behaviour: 'files that a session changed are restored byte for byte, with modes, links and empty files',
  },
  'trm:snapshot:user': {
    origin: 'refinement design, isolation',
    behaviour:
      'index, HEAD, stash, configuration, times and uncommitted work of the user remain, and no program of the project runs',
  },
  'trm:snapshot:conflict': {
    origin: 'refinement design, isolation',
    behaviour: 'files that another program edited are listed and left unchanged, unless the caller forces it',
  },
  'trm:snapshot:anywhere': {
    origin: 'refinement design, isolation',
    behaviour: 'snapshots work in folders without a repository',
  },
  'trm:snapshot:without-git': {
    origin: 'refinement design, libraries: no git binary',
    behaviour: 'snapshots and ignore rules work without git, and snapshots of version 0.2 are restored',
  },
  'trm:snapshot:limits': {
    origin: 'refinement design, security rules',
    behaviour: 'a project that is too large for a snapshot is rejected with its largest folders',
  },
  'trm:feedback:problems': {
    origin: 'original refinement design, error parsing',
    behaviour: 'exceptions are parsed completely, and those that hide others come first',
  },
  'trm:advice:sure': {
    origin: 'refinement design, repairs',
    behaviour: 'a repair is returned only if it applies, parses and follows from the error',
  },
  'trm:advice:suggest': {
    origin: 'refinement design, suggestions',
    behaviour: 'failures with one cause form one suggestion, most urgent first',
  },
  'trm:start:most': {
    origin: 'refinement design, security rules',
    behaviour: 'at most 50 sessions are open, and a new session can replace an idle session after a week',
  },
} as const satisfies Requirements
