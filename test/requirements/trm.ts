import type { Requirements } from '../requirement.ts'

/** Trm: refinement of code. */
export const trm = {
  'trm:off': {
    origin: 'refinement design, security rules',
    behaviour: 'without CAUSEWAY_TRM_ROOTS nothing can be started, whatever other roots there are',
  },
  'trm:start:outside': {
    origin: 'refinement design, acceptance 1',
    behaviour:
      'a project outside of the roots is refused, by its path and through a link, and no session is made',
  },
  'trm:start:defaults': {
    origin: 'original refinement design, evaluation signals and halting',
    behaviour: 'what is left out is as in the original design and shown back, under long names the same',
  },
  'trm:start:invalid': {
    origin: 'refinement design, acceptance 3',
    behaviour: 'each argument that is wrong or unknown is named',
  },
  'trm:start:detected': {
    origin: 'refinement design, acceptance 4',
    behaviour:
      'commands that fit are offered and not run; one whose program is missing is unavailable and no pass',
  },
  'trm:limits:names': {
    origin: 'refinement design, errors',
    behaviour: 'names and commands that the system rejects have coded errors',
  },
  'trm:limits:disk': {
    origin: 'refinement design, errors',
    behaviour:
      'a full disk has a coded error, changes no file, and the session continues when there is space',
  },
  'trm:start:absent': {
    origin: 'refinement design, isolation',
    behaviour:
      'ignored files and other repositories that a failed baseline names are reported with the option that links them',
  },
  'trm:start:editable': {
    origin: 'refinement design, isolation',
    behaviour: 'an editable install that would hide a candidate from the tests is warned of',
  },
  'trm:start:commands': {
    origin: 'refinement design, security rules',
    behaviour:
      'the server can allow only detected commands, or those that match, and any to holders of some tokens',
  },
  'trm:tests:reports': {
    origin: 'refinement design, reports',
    behaviour: 'machine-readable reports of pytest, node --test, TAP, vitest, jest and mocha are read whole',
  },
  'trm:tests:text': {
    origin: 'refinement design, reports',
    behaviour:
      'the text of every runner is read where there is no report, and nothing else is taken for a summary',
  },
  'trm:lint:diagnostics': {
    origin: 'refinement design, reports',
    behaviour: 'complaints of flake8, pylint, mypy, tsc and eslint are read',
  },
  'trm:perf:units': {
    origin: 'refinement design, signals',
    behaviour: 'a benchmark is read in any unit of time, in bytes, as a rate, as JSON or as a bare number',
  },
  'trm:perf:refused': {
    origin: 'refinement design, guards against gaming',
    behaviour: 'a benchmark of 0, or 1,000 times better than before, is not a measurement',
  },
  'trm:submit:edited': {
    origin: 'refinement design, work next to an editor',
    behaviour:
      'without a candidate the files on disk are evaluated, guarded, undone and restored as the best like a candidate; edits that were not submitted are never lost',
  },
  'trm:score:formula': {
    origin: 'original refinement design, scoring',
    behaviour:
      'the score is the weighted mean of the configured signals, the contributions add up to it, the average follows the newest score',
  },
  'trm:score:missing': {
    origin: 'refinement design, acceptance 10',
    behaviour:
      'tests that could not be read, did not run or vanished never raise a score, and are never success',
  },
  'trm:halt:rules': {
    origin: 'refinement design, acceptance 12',
    behaviour: 'success comes before plateau before limit, each exactly at its bound',
  },
  'trm:halt:limit': {
    origin: 'refinement design, acceptance 12',
    behaviour: 'after the limit a candidate is refused unless forced',
  },
  'trm:submit:modes': {
    origin: 'refinement design, acceptance 5 and 6',
    behaviour:
      'the modes of one change give the same bytes, of a new file too; patches create, delete and rename, and undo gives all back',
  },
  'trm:submit:atomic': {
    origin: 'refinement design, acceptance 7 to 9',
    behaviour: 'a candidate that is refused leaves files, step and state as they were',
  },
  'trm:submit:stale': {
    origin: 'refinement design, candidate modes',
    behaviour: 'a file that changed after it was read is refused, with what has changed',
  },
  'trm:submit:once': {
    origin: 'design, growing past one machine',
    behaviour: 'a repeated request is the same evaluation',
  },
  'trm:submit:only': {
    origin: 'refinement design, peers: what users of test runners ask for',
    behaviour:
      'the tests that failed, or some by their ids, can be run alone; that uses no step and changes no score',
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
    behaviour: 'a cancelled evaluation ends soon, and its files are back',
  },
  'trm:submit:progress': {
    origin: 'refinement design, acceptance 27',
    behaviour: 'every command reports progress that only grows',
  },
  'trm:submit:same': {
    origin: 'refinement design, acceptance 32',
    behaviour: 'the same candidate twice is judged the same',
  },
  'trm:submit:tamper': {
    origin: 'refinement design, guards against gaming',
    behaviour:
      'a candidate that changes tests, their configuration or a script of the commands gets a warning',
  },
  'trm:submit:guard': {
    origin: 'refinement design, guards against gaming',
    behaviour:
      'a candidate that changes tests or their configuration is evaluated again with the original ones, and succeeds only if that passes too',
  },
  'trm:submit:gaming': {
    origin: 'refinement design, guards against gaming',
    behaviour:
      'a candidate that makes its evaluation look better without repairing the code is neither a success nor the best state',
  },
  'trm:submit:protected': {
    origin: 'refinement design, guards against gaming',
    behaviour: 'a session can refuse candidates that change tests or paths that it names',
  },
  'trm:submit:project': {
    origin: 'refinement design, dangers and process runner',
    behaviour: 'one project is evaluated for one session at a time',
  },
  'trm:submit:fail-fast': {
    origin: 'refinement design, peers: evaluation cascade',
    behaviour: 'after a command that failed the rest can be left out, and counts as failed',
  },
  'trm:submit:improved': {
    origin: 'refinement design, isolation',
    behaviour: 'under write improved a candidate lands only where it is better',
  },
  'trm:submit:end': {
    origin: 'refinement design, isolation',
    behaviour:
      'under write end the project stays as it is until the session ends, and then gets what was asked for, or nothing if another program edited it',
  },
  'trm:signals:named': {
    origin: 'original refinement design, adding an evaluation signal',
    behaviour: 'further named signals have a command and a weight of their own',
  },
  'trm:halt:noise': {
    origin: 'refinement design, signals',
    behaviour: 'a benchmark whose difference is noise is not an improvement',
  },
  'trm:read:files': {
    origin: 'refinement design, acceptance 13',
    behaviour: 'files are read with their metadata, each with its own error, in parts where they are large',
  },
  'trm:lines:range': {
    origin: 'refinement design, acceptance 14',
    behaviour: 'lines are numbered, the end is clamped, and each wrong range has its own code',
  },
  'trm:state:whole': {
    origin: 'refinement design, acceptance 15 and 16',
    behaviour: 'state and halt return the same as submit did, before and after a restart',
  },
  'trm:validate:exact': {
    origin: 'refinement design, acceptance 17',
    behaviour: 'validate shows the lines as they would be, refuses as submit would, and changes nothing',
  },
  'trm:restore:exact': {
    origin: 'refinement design, acceptance 19',
    behaviour:
      'a checkpoint gives files, step, scores, streak and notes back; edits of the user are a conflict unless forced',
  },
  'trm:save:most': {
    origin: 'refinement design, acceptance 19',
    behaviour: 'the twenty-first checkpoint is refused',
  },
  'trm:reset:user': {
    origin: 'refinement design, acceptance 20',
    behaviour: 'a reset keeps what the user changed, in git and without',
  },
  'trm:undo:exact': {
    origin: 'refinement design, acceptance 21',
    behaviour: 'undo gives back files and streak, until nothing is left',
  },
  'trm:end:best': {
    origin: 'refinement design, acceptance 23',
    behaviour: 'an end cancels what runs and can leave the best files behind',
  },
  'trm:sid:unknown': {
    origin: 'refinement design, acceptance 24',
    behaviour: 'every tool refuses an unknown session',
  },
  'trm:run:timeout': {
    origin: 'refinement design, acceptance 25',
    behaviour: 'a limit holds for whatever a command started, and nothing of it is left',
  },
  'trm:run:output': {
    origin: 'refinement design, acceptance 29',
    behaviour: 'of endless output a small part is stored, which contains the first failure',
  },
  'trm:run:shell': {
    origin: 'refinement design, acceptance 30',
    behaviour: 'commands are shell: lists, pipes, quotes and variables work',
  },
  'trm:run:environment': {
    origin: 'refinement design, security rules',
    behaviour: 'a command sees no secret of the server, and what a session gave it is not shown',
  },
  'trm:run:confined': {
    origin: 'refinement design, security rules',
    behaviour:
      'limits of the system hold for every command; in the sandbox it has no network, writes nothing outside of its copy, and the result lists what confined it',
  },
  'trm:run:isolated': {
    origin: 'refinement design, isolation',
    behaviour: 'what commands write or delete is not in the project afterwards',
  },
  'trm:run:audit': {
    origin: 'refinement design, security rules',
    behaviour:
      'every command that is run is on record with its folder, process, exit, time and bytes, also when its session has ended',
  },
  'trm:run:orphans': {
    origin: 'refinement design, process runner',
    behaviour: 'nothing of a command outlives the server, however it ends',
  },
  'trm:wire:names': {
    origin: 'original refinement design, tools',
    behaviour: 'trm.start to trm.fix are the names on the own mount, Trm__start on the shared one',
  },
  'trm:story': {
    origin: 'refinement design, evaluation',
    behaviour:
      'a project is refined from a failing test to success, and the repository differs in nothing else',
    over: ['direct', 'http', 'bridge'],
  },
  'trm:story:agent': {
    origin: 'refinement design, work next to an editor',
    behaviour:
      'the loop of a coding agent with its own editor on a published package needs five tools, reads at most twice the output of the tests, and ends in the best state',
  },
  'trm:restart': {
    origin: 'refinement design, evaluation E7',
    behaviour:
      'a server that is killed in a test leaves no process, and the next one gives the files back and says interrupted',
    over: ['http', 'bridge'],
  },
  'trm:advice:fix': {
    origin: 'refinement design, acceptance 18',
    behaviour:
      'a repair that follows from an error can be submitted as it is and repairs it; without errors there is no repair',
  },
  'trm:advice:unsure': {
    origin: 'refinement design, acceptance 18',
    behaviour: 'without a certain repair, the lines to look at are returned',
  },
  'trm:review:rules': {
    origin: 'refinement design, acceptance 22',
    behaviour:
      'a diff, files or a session are reviewed with the line numbers of the new files, and nothing is fetched',
  },
  'trm:patterns:linear': {
    origin: 'design, safe by default',
    behaviour:
      'patterns of clients and projects never stop the server: paths are matched without backtracking',
  },
  'trm:review:linear': {
    origin: 'design, safe by default',
    behaviour:
      'a review takes time linear in the length of its lines, whatever they contain, and rejects more than a million lines',
  },
  'trm:runs:toolz': {
    origin: 'refinement design, evaluation E1 and E2',
    behaviour:
      'toolz is refined with pytest and flake8: failures name test, file and line, and only real success is reported',
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
      'a data project with every signal, a further one too, has the score of the formula at each step',
    over: ['http', 'bridge'],
  },
  'trm:runs:venv': {
    origin: 'refinement design, evaluation E5 and what is installed',
    behaviour:
      'a data project with a virtual environment is judged by the modules in it, and its environment stays as it is',
  },
  'trm:runs:hostile': {
    origin: 'refinement design, evaluation E6',
    behaviour: 'a test that forks, deletes, floods and never ends costs its time limit and nothing else',
    over: ['http', 'bridge'],
  },
  'trm:candidate:perturbed': {
    origin: 'refinement design, patch robustness',
    behaviour:
      'of patches with wrong numbers, counts, headers, context, line ends or fences none is applied wrongly, and 90 of 100 are applied',
  },
  'trm:candidate:format': {
    origin: 'refinement design, candidate modes',
    behaviour: 'line ends, byte order mark and the end of the last line stay, whichever mode changes a file',
  },
  'trm:candidate:edits': {
    origin: 'refinement design, candidate modes',
    behaviour:
      'edits are placed in the text before the first of them; overlaps and ambiguous replacements are refused',
  },
  'trm:candidate:patch': {
    origin: 'refinement design, candidate modes',
    behaviour: 'a patch creates, deletes, renames and changes files, bytes and x bits included',
  },
  'trm:candidate:refused': {
    origin: 'refinement design, security rules',
    behaviour:
      'paths out of the project, into .git and through links, binary patches and hunks that fit twice are refused',
  },
  'trm:candidate:notebook': {
    origin: 'refinement design, candidate modes',
    behaviour: 'cells of a notebook are edited by index or id, and every other character of the file stays',
  },
  'trm:snapshot:exact': {
    origin: 'refinement design, isolation',
    behaviour: 'what a session changed comes back byte for byte, with modes, links and empty files',
  },
  'trm:snapshot:user': {
    origin: 'refinement design, isolation',
    behaviour:
      'index, HEAD, stash, configuration, times and uncommitted work of the user stay, and no program of the project runs',
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
    behaviour:
      'snapshots need no git, ignore rules are read as git reads them, and snapshots of version 0.2 are restored',
  },
  'trm:snapshot:limits': {
    origin: 'refinement design, security rules',
    behaviour: 'a project too large for a snapshot is refused with its largest folders',
  },
  'trm:feedback:problems': {
    origin: 'original refinement design, error parsing',
    behaviour: 'exceptions are parsed completely, those that hide others come first, and each has advice',
  },
  'trm:advice:sure': {
    origin: 'refinement design, repairs',
    behaviour: 'a repair is offered only where it applies, can be parsed and follows from the error',
  },
  'trm:advice:suggest': {
    origin: 'refinement design, suggestions',
    behaviour: 'failures with one cause are one suggestion, the most urgent first',
  },
  'trm:start:most': {
    origin: 'refinement design, security rules',
    behaviour: 'at most 50 sessions are open; a session that was idle for a week is ended for a new one',
  },
} as const satisfies Requirements
