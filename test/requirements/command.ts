import type { Requirements } from '../requirement.ts'

/** The commands of the program `causeway`. */
export const command = {
  'command:help': {
    origin: 'design, seen by a new user',
    behaviour:
      'causeway --help lists every command, and each command has its own help with flags and exit codes',
  },
  'command:wrong-line': {
    origin: 'design, settings',
    behaviour:
      'an unknown command, a flag of another command or an extra argument is rejected with a suggestion and exit code 2',
  },
  'command:status': {
    origin: 'server operations, packaging',
    behaviour:
      'status shows URL, version, uptime, data folder and apps, and exits with 0 (healthy), 1 (not healthy) or 3 (not running)',
  },
  'command:status:other-folder': {
    origin: 'server operations, packaging',
    behaviour: 'status reports a server on the port that uses another data folder',
  },
  'command:stop': {
    origin: 'server operations, packaging',
    behaviour:
      'stop stops the server of the data folder after its calls, waits until it has exited, and succeeds if none is running',
  },
  'command:stop:foreign': {
    origin: 'server operations, packaging',
    behaviour: 'a process that reuses the pid of a former server is never signalled',
  },
  'command:logs': {
    origin: 'server operations, packaging',
    behaviour: 'logs prints the last lines across rotated files and follows them into the next file',
  },
  'command:roots': {
    origin: 'design, settings: roots',
    behaviour:
      'roots lists the folders that each app may read with their sources, and adds and removes folders while a server runs',
  },
  'command:init': {
    origin: 'server operations, packaging',
    behaviour:
      'init writes the configuration of Claude Code, VS Code and Cursor, for a project or a user, and its command starts a bridge that lists tools',
  },
  'command:init:foreign-kept': {
    origin: 'server operations, packaging',
    behaviour: 'init preserves other servers, unknown keys, comments and formatting',
  },
  'command:init:refused': {
    origin: 'server operations, packaging',
    behaviour:
      'init does not change a file that is not JSON or would lose comments, and prints the position and the lines to paste',
  },
  'command:init:careful': {
    origin: 'server operations, packaging',
    behaviour:
      'a second init changes nothing, the old file is backed up, symbolic links and modes stay, and --dry-run and --print write nothing',
  },
  'command:backup': {
    origin: 'server operations, packaging',
    behaviour:
      'backup copies the data of a running server, and restore restores it, moves the previous data aside and prints its path',
  },
  'command:data:erase': {
    origin: 'server operations, packaging',
    behaviour: 'data erase removes the data of one app and nothing else, and lists it',
  },
  'command:data:asked': {
    origin: 'server operations, packaging',
    behaviour: 'data erase asks at a terminal, requires --yes elsewhere, and fails while a server runs',
  },
  'command:doctor': {
    origin: 'server operations, packaging',
    behaviour:
      'doctor checks Node, SQLite, bridge, settings, data folder, disk, tokens, roots, port and server, and suggests fixes',
  },
  'command:install-service': {
    origin: 'server operations, packaging',
    behaviour:
      'install-service writes a systemd unit, a launch agent or a task with this Node, the settings without secrets, a heap limit and restarts, and enables it only with --enable',
  },
  'command:install-service:no-systemd': {
    origin: 'server operations, packaging',
    behaviour: 'without a service manager install-service writes nothing and names an alternative',
  },
  'command:call': {
    origin: 'seen by a new user',
    behaviour:
      'call sends a call to the running server with arguments converted by the schema of the tool, and prints the result',
  },
  'command:call:errors': {
    origin: 'seen by a new user',
    behaviour:
      'call exits with 1 if the tool fails, with 2 for wrong arguments and with 3 without a server, and prints what to do',
  },
  'command:call:pictures': {
    origin: 'seen by a new user',
    behaviour: 'call saves pictures without replacing files and prints their paths',
  },
  'command:call:dry-run': {
    origin: 'seen by a new user',
    behaviour: 'call --dry-run prints the call and sends nothing',
  },
  'command:call:cancel': {
    origin: 'seen by a new user',
    behaviour: 'call receives progress, and Ctrl-C cancels the call on the server',
  },
  'command:tools': {
    origin: 'seen by a new user',
    behaviour: 'tools lists apps, tools, arguments and schemas of the running server',
  },
  'command:config': {
    origin: 'seen by a new user',
    behaviour:
      'config prints the settings of the running server, or of the next start, with their sources and without secrets',
  },
  'command:completion': {
    origin: 'seen by a new user',
    behaviour: 'completion prints scripts for bash, zsh and fish with every command and flag',
  },
  'command:dry-run': {
    origin: 'seen by a new user',
    behaviour: 'every command that writes has --dry-run, which prints what would be done and writes nothing',
  },
} as const satisfies Requirements
