import { defineErrors } from '@causeway/protocol'

export const HelpError = defineErrors({
  HELP_DOC_NOT_FOUND: {
    status: 404,
    about: 'the documentation has no such document',
    remedy: 'use one of data.nearest, or a doc_id of find_help_topics',
  },
  HELP_SECTION_NOT_FOUND: {
    status: 404,
    about: 'the documentation has no such section',
    remedy: 'use one of data.nearest, or call list_help_sections',
  },
  HELP_SOURCE_NOT_FOUND: {
    status: 404,
    about: 'the documentation has no such source',
    remedy: 'use one of data.nearest, or leave out source to search all',
  },
  HELP_INTERNAL_FORBIDDEN: {
    status: 403,
    about: 'the server does not serve the requested internal documentation',
    remedy: 'leave out include_internal; the operator may set CAUSEWAY_HELP_INTERNAL=true',
  },
  HELP_NOT_BUILT: {
    status: 503,
    retryable: true,
    about: 'no documentation is indexed yet',
    remedy: 'call again in a few seconds, or run npm run help:build',
  },
  HELP_DATABASE_UNUSABLE: {
    status: 503,
    retryable: true,
    about: 'the PostgreSQL server of the documentation cannot be used',
    remedy:
      'see the message; correct CAUSEWAY_HELP_DATABASE_URL or the server, or leave the setting out to use SQLite',
  },
  HELP_BUILD_RUNNING: {
    status: 409,
    retryable: true,
    about: 'another build of the documentation is running',
    remedy: 'wait until it has ended, then build again',
  },
  HELP_SOURCE_INVALID: {
    status: 422,
    about: 'a configured documentation source cannot be used',
    remedy:
      'see the message; write each entry of CAUSEWAY_HELP_SOURCES as name=folder, name=https://host/llms.txt, internal:name=..., pkg:name, npm:name@version or own',
  },
  HELP_SOURCE_UNREACHABLE: {
    status: 502,
    retryable: true,
    about: 'a documentation source could not be fetched',
    remedy:
      'see the message; check the address, or the name, the version and CAUSEWAY_HELP_REGISTRY, then build again',
  },
  HELP_CHUNKING_CHANGED: {
    status: 409,
    about: 'the index was made with other chunking rules',
    remedy: 'run npm run help:rebuild',
  },
  HELP_EXPORT_UNSAFE: {
    status: 500,
    about: 'the export contained data that must not leave this machine, and was deleted',
    remedy: 'run npm run help:rebuild, then export again; report it if it repeats',
  },
  HELP_IMPORT_REFUSED: {
    status: 422,
    about: 'the file is not an export of documentation that this version can read, or it was changed',
    remedy: 'export it again with this version, and keep the database and its metadata together',
  },
})
