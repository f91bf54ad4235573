import type { Requirements } from '../requirement.ts'

/** The commands of the program `causeway`. */
export const command = {
  'command:help': {
    origin: 'design, seen by a new user',
    behaviour:
      'causeway --help names every command, and each has a help of its own with flags and exit codes',
  },
  'command:wrong-line': {
    origin: 'design, settings',
    behaviour:
      'an unknown command, a flag of another command or a word too many is refused with what may be meant, exit 2',
  },
  'command:status': {
    origin: 'server operations, packaging',
    behaviour:
      'status tells url, version, uptime, data folder and apps: exit 0 well, 1 not well, 3 not running',
  },
  'command:status:other-folder': {
    origin: 'server operations, packaging',
    behaviour: 'status names a server that holds the port with another data folder',
  },
  'command:stop': {
    origin: 'server operations, packaging',
    behaviour:
      'stop ends the server of the data folder after its calls, waits for its end, and is done where none runs',
  },
  'command:stop:foreign': {
    origin: 'server operations, packaging',
    behaviour: 'a process that got the number of a server that is gone is never signalled',
  },
  'command:logs': {
    origin: 'server operations, packaging',
    behaviour: 'logs prints the last lines across rolled files and follows them on into the next file',
  },
  'command:roots': {
    origin: 'design, settings: roots',
    behaviour:
      'roots lists what each app may read and from where, and adds and removes folders while a server runs',
  },
  'command:init': {
    origin: 'server operations, packaging',
    behaviour:
      'init writes the configuration of Claude Code, VS Code and Cursor, in a project or for the user, and the command in it starts a bridge that lists tools',
  },
  'command:init:foreign-kept': {
    origin: 'server operations, packaging',
    behaviour: 'other servers, unknown keys, comments and the manner of writing stay as they are',
  },
  'command:init:refused': {
    origin: 'server operations, packaging',
    behaviour:
      'a file that is not JSON, or whose comments would be lost, is left as it is, with the place and the lines to paste',
  },
  'command:init:careful': {
    origin: 'server operations, packaging',
    behaviour:
      'init done twice changes nothing, the old file is kept beside the new one, links and rights stay, --dry-run and --print write nothing',
  },
  'command:backup': {
    origin: 'server operations, packaging',
    behaviour:
      'backup copies the data of a running server, and restore puts it back, with what was there moved aside and told',
  },
  'command:data:erase': {
    origin: 'server operations, packaging',
    behaviour: 'data erase removes what one app keeps and nothing else, and says what it removed',
  },
  'command:data:asked': {
    origin: 'server operations, packaging',
    behaviour: 'data erase asks at a terminal, wants --yes elsewhere, and is refused while a server runs',
  },
  'command:doctor': {
    origin: 'server operations, packaging',
    behaviour:
      'doctor examines Node, SQLite, bridge, settings, data folder, disk, tokens, roots, port and server, and says what to do about each',
  },
  'command:install-service': {
    origin: 'server operations, packaging',
    behaviour:
      'install-service writes a systemd unit with this Node, these settings without secrets, a heap cap and restarts; it switches nothing on unless told',
  },
  'command:install-service:no-systemd': {
    origin: 'server operations, packaging',
    behaviour: 'without systemd install-service writes nothing and says what to run instead',
  },
} as const satisfies Requirements
