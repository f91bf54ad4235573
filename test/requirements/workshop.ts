import type { Requirements } from '../requirement.ts'

/** Set-up, checks and documentation of the repository itself. */
export const workshop = {
  'workshop:lock:single-install': {
    origin: 'design, one command does all set-up',
    behaviour: 'two commands started at once in a fresh checkout install once, one after the other',
  },
  'workshop:lock:dead-holder': {
    origin: 'design, one command does all set-up',
    behaviour: 'a lock left by a dead process is taken over',
  },
  'workshop:lock:live-holder': {
    origin: 'design, one command does all set-up',
    behaviour: 'a lock whose holder lives is never taken away, even when two waiters look at the same moment',
  },
  'workshop:stamp:reinstall': {
    origin: 'design, one command does all set-up',
    behaviour:
      'a changed lockfile or missing test tools are installed into the same tree; otherwise nothing is installed',
  },
  'workshop:stamp:interrupted': {
    origin: 'design, one command does all set-up',
    behaviour: 'after an interrupted or failed installation the next command installs from scratch',
  },
  'workshop:runtime:choice': {
    origin: 'design, versions',
    behaviour:
      'the server runs on CAUSEWAY_NODE, else on the current Node from 22.19 on, else on the Node fetched from npm',
  },
  'workshop:runtime:pinned': {
    origin: 'server operations, packaging',
    behaviour:
      'the Node that is fetched for each platform is pinned by version and hash in a lockfile of its own',
  },
  'workshop:runtime:too-old': {
    origin: 'design, versions',
    behaviour: 'without a suitable Node the command says so in one sentence and exits 1',
  },
  'workshop:start:needs': {
    origin: 'design, set-up',
    behaviour:
      'npm start installs no test tools and compiles nothing; a named test file runs without lint, types or build',
  },
  'workshop:start:place': {
    origin: 'a first start in a clone',
    behaviour:
      "npm start serves in the checkout with a data folder that is its user's alone; its other commands run where the user stands and make none",
  },
  'workshop:signal:exit-code': {
    origin: 'POSIX shell, exit status',
    behaviour: 'a child ended by signal n makes the command exit 128 + n',
  },
  'workshop:signal:npm-dies': {
    origin: 'design, one command does all set-up',
    behaviour: 'when npm is killed, the server drains and ends instead of living on as an orphan',
  },
  'workshop:architecture:arrows': {
    origin: 'design, the tree',
    behaviour: 'packages import along the arrows only, without cycles; an app never imports an app',
  },
  'workshop:architecture:rim': {
    origin: 'style, nine rules',
    behaviour:
      'Fastify stays in server/src/http, and the bridge imports protocol, undici dispatchers and node: only',
  },
  'workshop:architecture:purity': {
    origin: 'style, nine rules',
    behaviour: 'domain folders have no I/O, clock, randomness, database or await',
  },
  'workshop:architecture:size': {
    origin: 'style, nine rules',
    behaviour: 'no file exceeds 400 lines, is named utils, or holds mutable module state',
  },
  'workshop:language:lint': {
    origin: 'CONTRIBUTING.md, language',
    behaviour:
      'lint rejects unknown words everywhere, and retired words, phrases and names outside the pending list',
  },
  'workshop:language:pending': {
    origin: 'CONTRIBUTING.md, language',
    behaviour: 'the list of files with unconverted English only shrinks',
  },
  'workshop:commits:subjects': {
    origin: 'CONTRIBUTING.md, commits',
    behaviour: 'CI rejects commit subjects that are not Conventional Commits of at most 72 characters',
  },
  'workshop:docs:current': {
    origin: 'style, comments and docs',
    behaviour: 'the tables of tools, errors and settings in the docs equal the code',
  },
  'workshop:docs:stale': {
    origin: 'style, comments and docs',
    behaviour: 'the docs check names every file whose generated block differs from the code',
  },
  'workshop:coverage:absent-file': {
    origin: 'style, tests',
    behaviour: 'a source file that no test loads counts as uncovered',
  },
  'workshop:package:one-version': {
    origin: 'server operations, packaging',
    behaviour:
      'every package, the lockfile, the bridge and the changelog say one version, and name each other by it',
  },
  'workshop:package:whole': {
    origin: 'server operations, packaging',
    behaviour:
      'the tarballs of server and bridge, installed into an empty folder, serve every app and answer a tool call through the bridge',
  },
  'workshop:package:content': {
    origin: 'server operations, packaging',
    behaviour: 'the tarballs hold no tests, sources, fixtures or maps',
  },
} as const satisfies Requirements
