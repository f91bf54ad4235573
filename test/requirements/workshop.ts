import type { Requirements } from '../requirement.ts'

/** Setup, checks and documentation of the repository itself. */
export const workshop = {
  'workshop:lock:single-install': {
    origin: 'design, one command does all set-up',
    behaviour:
      'two commands that start at the same time in a fresh checkout install once, one after the other',
  },
  'workshop:lock:dead-holder': {
    origin: 'design, one command does all set-up',
    behaviour: 'a lock left by a dead process is taken over',
  },
  'workshop:lock:live-holder': {
    origin: 'design, one command does all set-up',
    behaviour:
      'a lock whose holder is alive is never taken over, even if two waiters check at the same moment',
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
      'the server runs on CAUSEWAY_NODE, otherwise on the current Node if it is 22.19 or later, otherwise on the Node fetched from npm',
  },
  'workshop:runtime:pinned': {
    origin: 'server operations, packaging',
    behaviour: 'the fetched Node of each platform is pinned by version and hash in a separate lockfile',
  },
  'workshop:runtime:too-old': {
    origin: 'design, versions',
    behaviour: 'without a suitable Node the command prints one sentence and exits with 1',
  },
  'workshop:start:needs': {
    origin: 'design, set-up',
    behaviour:
      'npm start installs no test tools and compiles nothing; a named test file runs without lint, types or build',
  },
  'workshop:start:place': {
    origin: 'a first start in a clone',
    behaviour:
      'npm start uses the checkout as working directory, with a data folder that only its user can read; its other commands run in the current directory of the user and create no data folder',
  },
  'workshop:signal:exit-code': {
    origin: 'POSIX shell, exit status',
    behaviour: 'if signal n ends a child, the command exits with 128 + n',
  },
  'workshop:signal:npm-dies': {
    origin: 'design, one command does all set-up',
    behaviour: 'if npm is killed, the server drains and exits instead of becoming an orphan',
  },
  'workshop:architecture:arrows': {
    origin: 'design, the tree',
    behaviour:
      'packages import only along the documented arrows, without cycles; an app never imports an app',
  },
  'workshop:architecture:path': {
    origin: 'style, structure',
    behaviour: 'the path of a tool call has at most 12 short files, each importing the next',
  },
  'workshop:architecture:line-path': {
    origin: 'style, structure',
    behaviour: 'the path of a line from standard input to the HTTP request has at most 12 short files',
  },
  'workshop:architecture:rim': {
    origin: 'style, nine rules',
    behaviour:
      'only server/src/http imports Fastify, and the bridge imports only protocol, undici dispatchers and node: modules',
  },
  'workshop:architecture:purity': {
    origin: 'style, nine rules',
    behaviour: 'domain folders have no I/O, clock, randomness, database or await',
  },
  'workshop:architecture:size': {
    origin: 'style, nine rules',
    behaviour: 'no file exceeds 400 lines, is named utils, or has mutable module state',
  },
  'workshop:language:lint': {
    origin: 'CONTRIBUTING.md, language',
    behaviour: 'lint rejects unknown words, and retired words, phrases and names',
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
      'every package, the lockfile, the bridge and the changelog have the same version, and refer to each other by it',
  },
  'workshop:package:whole': {
    origin: 'server operations, packaging',
    behaviour:
      'the tarball of the server, installed into an empty folder, provides every app and the bridge, through which a tool call is answered',
  },
  'workshop:package:content': {
    origin: 'server operations, packaging',
    behaviour: 'the tarballs contain no tests, sources, fixtures or maps',
  },
  'workshop:package:metadata': {
    origin: 'server operations, packaging',
    behaviour:
      'the tarballs have a license, keywords and programs, and the entry for the MCP registry describes the bridge',
  },
  'workshop:package:notices': {
    origin: 'server operations, packaging',
    behaviour: 'every packed file contains the licenses of the third-party code and data in it',
  },
  'workshop:package:clients': {
    origin: 'server operations, packaging',
    behaviour: 'the MCP bundle and the plugin for Claude Code connect to a running server',
  },
  'workshop:package:docker': {
    origin: 'server operations, packaging',
    behaviour: 'the Dockerfile has no lint problem, and its commands install and start the packed server',
  },
} as const satisfies Requirements
